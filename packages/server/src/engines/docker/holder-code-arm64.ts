/** The holder's program for arm64, instruction by instruction. holder-program.ts says what it does. */
export const arm64Code: readonly string[] = [
  'e81080d2', //                 mov  x8, 135                       rt_sigprocmask
  '000080d2', //                 mov  x0, 0                         SIG_BLOCK
  '810d0010', //                 adr  x1, blocked
  '020080d2', //                 mov  x2, 0
  '030180d2', //                 mov  x3, 8                         size of the set
  '010000d4', //                 svc  0
  'ff0342d1', //                 sub  sp, sp, 0x80, lsl 12          room for a datagram
  'ff0304d1', //                 sub  sp, sp, 0x100                 three pollfds, and behind them the frame
  '480980d2', //                 mov  x8, 74                        signalfd4
  '00008092', //                 mov  x0, -1
  'c10c0010', //                 adr  x1, watched
  '020180d2', //                 mov  x2, 8
  '030080d2', //                 mov  x3, 0
  '010000d4', //                 svc  0
  'e00300b9', //                 str  w0, [sp]
  'c81480d2', //                 mov  x8, 166                       umask: everybody may send
  '000080d2', //                 mov  x0, 0
  '010000d4', //                 svc  0
  '080780d2', //                 mov  x8, 56                        openat
  '00008092', //                 mov  x0, -1
  'c10c0010', //                 adr  x1, spool
  '228080d2', //                 mov  x2, 0x401                     to write, at the end
  '010000d4', //                 svc  0
  'f303002a', //                 mov  w19, w0
  '540b0010', //                 adr  x20, sink
  '410081d2', //                 mov  x1, 0x802                     datagrams, not waiting
  '43000094', //                 bl   bound
  'e00b00b9', //                 str  w0, [sp, 8]
  '540b0010', //                 adr  x20, bell
  '210081d2', //                 mov  x1, 0x801                     a stream, not waiting
  '3f000094', //                 bl   bound
  'e01300b9', //                 str  w0, [sp, 16]
  '281980d2', //                 mov  x8, 201                       listen
  '010880d2', //                 mov  x1, 64
  '010000d4', //                 svc  0
  '21008052', //                 mov  w1, 1                         POLLIN
  'e10700b9', //                 str  w1, [sp, 4]
  'e10f00b9', //                 str  w1, [sp, 12]
  'e11700b9', //                 str  w1, [sp, 20]
  '280980d2', //        wait:    mov  x8, 73                        ppoll
  'e0030091', //                 mov  x0, sp
  '610080d2', //                 mov  x1, 3
  '020080d2', //                 mov  x2, 0                         no limit
  '030080d2', //                 mov  x3, 0
  '010000d4', //                 svc  0
  'e10f4079', //                 ldrh w1, [sp, 6]
  '81050035', //                 cbnz w1, exit                      a signal
  'e81980d2', //        drain:   mov  x8, 207                       recvfrom
  'e00b80b9', //                 ldrsw x0, [sp, 8]
  'e1930091', //                 add  x1, sp, 36
  '0201a0d2', //                 mov  x2, 0x80000
  '030c80d2', //                 mov  x3, 0x60                      not waiting; the length also of what is longer
  '040080d2', //                 mov  x4, 0
  '050080d2', //                 mov  x5, 0
  '010000d4', //                 svc  0
  '2003f8b7', //                 tbnz x0, 63, drained
  '1f0002eb', //                 cmp  x0, x2
  'c8feff54', //                 b.hi drain                         too long
  'e02300b9', //                 str  w0, [sp, 32]
  '15100091', //                 add  x21, x0, 4
  '080880d2', //                 mov  x8, 64                        write
  'e003132a', //                 mov  w0, w19
  'e1830091', //                 add  x1, sp, 32
  'e20315aa', //                 mov  x2, x21
  '010000d4', //                 svc  0
  '1f0015eb', //                 cmp  x0, x21
  'a0fdff54', //                 b.eq drain
  '1f0000f1', //                 cmp  x0, 0
  '6dfdff54', //                 b.le drain                         no room
  'f50300aa', //                 mov  x21, x0
  'c80780d2', //                 mov  x8, 62                        lseek
  'e003132a', //                 mov  w0, w19
  '010080d2', //                 mov  x1, 0
  '220080d2', //                 mov  x2, 1                         from here
  '010000d4', //                 svc  0
  '010015cb', //                 sub  x1, x0, x21
  'c80580d2', //                 mov  x8, 46                        ftruncate
  'e003132a', //                 mov  w0, w19
  '010000d4', //                 svc  0
  'e0ffff17', //                 b    drain
  'e12f4079', //        drained: ldrh w1, [sp, 22]
  'c1faff34', //                 cbz  w1, wait
  '481980d2', //                 mov  x8, 202                       accept
  'e01380b9', //                 ldrsw x0, [sp, 16]
  '010080d2', //                 mov  x1, 0
  '020080d2', //                 mov  x2, 0
  '010000d4', //                 svc  0
  '280780d2', //                 mov  x8, 57                        close
  '010000d4', //                 svc  0
  'ceffff17', //                 b    wait
  'a80b80d2', //        exit:    mov  x8, 93                        exit
  '000080d2', //                 mov  x0, 0
  '010000d4', //                 svc  0
  'c81880d2', //        bound:   mov  x8, 198                       socket
  '200080d2', //                 mov  x0, 1
  '020080d2', //                 mov  x2, 0
  '010000d4', //                 svc  0
  'f50300aa', //                 mov  x21, x0
  '680480d2', //                 mov  x8, 35                        unlinkat
  '00008092', //                 mov  x0, -1
  '810a0091', //                 add  x1, x20, 2
  '020080d2', //                 mov  x2, 0
  '010000d4', //                 svc  0
  '081980d2', //                 mov  x8, 200                       bind
  'e00315aa', //                 mov  x0, x21
  'e10314aa', //                 mov  x1, x20
  '020280d2', //                 mov  x2, 16
  '010000d4', //                 svc  0
  'e00315aa', //                 mov  x0, x21
  'c0035fd6', //                 ret
];
