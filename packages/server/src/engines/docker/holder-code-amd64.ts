/** The holder's program for amd64, instruction by instruction. holder-program.ts says what it does. */
export const amd64Code: readonly string[] = [
  'b80e000000', //               mov  eax, 14                       rt_sigprocmask
  '31ff', //                     xor  edi, edi                      SIG_BLOCK
  '488d359b010000', //           lea  rsi, [rip+blocked]
  '31d2', //                     xor  edx, edx
  '41ba08000000', //             mov  r10d, 8                       size of the set
  '0f05', //                     syscall
  '4881ec00010800', //           sub  rsp, 0x80100                  three pollfds, and behind them the frame
  'b821010000', //               mov  eax, 289                      signalfd4
  '83cfff', //                   or   edi, -1
  '488d3583010000', //           lea  rsi, [rip+watched]
  'ba08000000', //               mov  edx, 8
  '4531d2', //                   xor  r10d, r10d
  '0f05', //                     syscall
  '890424', //                   mov  [rsp], eax
  'b85f000000', //               mov  eax, 95                       umask: everybody may send
  '31ff', //                     xor  edi, edi
  '0f05', //                     syscall
  'b801010000', //               mov  eax, 257                      openat
  '83cfff', //                   or   edi, -1
  '488d3586010000', //           lea  rsi, [rip+spool]
  'ba01040000', //               mov  edx, 0x401                    to write, at the end
  '0f05', //                     syscall
  '4189c4', //                   mov  r12d, eax
  '488d1d55010000', //           lea  rbx, [rip+sink]
  'be02080000', //               mov  esi, 0x802                    datagrams, not waiting
  'e804010000', //               call bound
  '89442408', //                 mov  [rsp+8], eax
  '488d1d50010000', //           lea  rbx, [rip+bell]
  'be01080000', //               mov  esi, 0x801                    a stream, not waiting
  'e8ef000000', //               call bound
  '89442410', //                 mov  [rsp+16], eax
  '89c7', //                     mov  edi, eax
  'b832000000', //               mov  eax, 50                       listen
  'be40000000', //               mov  esi, 64
  '0f05', //                     syscall
  'c744240401000000', //         mov  dword ptr [rsp+4], 1          POLLIN
  'c744240c01000000', //         mov  dword ptr [rsp+12], 1
  'c744241401000000', //         mov  dword ptr [rsp+20], 1
  'b807000000', //      wait:    mov  eax, 7                        poll
  '4889e7', //                   mov  rdi, rsp
  'be03000000', //               mov  esi, 3
  '83caff', //                   or   edx, -1                       no limit
  '0f05', //                     syscall
  '66837c240600', //             cmp  word ptr [rsp+6], 0
  '0f859e000000', //             jne  exit                          a signal
  'b82d000000', //      drain:   mov  eax, 45                       recvfrom
  '8b7c2408', //                 mov  edi, [rsp+8]
  '488d742424', //               lea  rsi, [rsp+36]
  'ba00000800', //               mov  edx, 0x80000
  '41ba60000000', //             mov  r10d, 0x60                    not waiting; the length also of what is longer
  '4531c0', //                   xor  r8d, r8d
  '4531c9', //                   xor  r9d, r9d
  '0f05', //                     syscall
  '85c0', //                     test eax, eax
  '7850', //                     js   drained
  '3d00000800', //               cmp  eax, 0x80000
  '77d4', //                     ja   drain                         too long
  '89442420', //                 mov  [rsp+32], eax
  '448d7004', //                 lea  r14d, [rax+4]
  'b801000000', //               mov  eax, 1                        write
  '4489e7', //                   mov  edi, r12d
  '488d742420', //               lea  rsi, [rsp+32]
  '4489f2', //                   mov  edx, r14d
  '0f05', //                     syscall
  '4439f0', //                   cmp  eax, r14d
  '74b5', //                     je   drain
  '4989c6', //                   mov  r14, rax
  '85c0', //                     test eax, eax
  '7eae', //                     jle  drain                         no room
  'b808000000', //               mov  eax, 8                        lseek
  '4489e7', //                   mov  edi, r12d
  '31f6', //                     xor  esi, esi
  'ba01000000', //               mov  edx, 1                        from here
  '0f05', //                     syscall
  '4c29f0', //                   sub  rax, r14
  '4889c6', //                   mov  rsi, rax
  'b84d000000', //               mov  eax, 77                       ftruncate
  '4489e7', //                   mov  edi, r12d
  '0f05', //                     syscall
  'eb8b', //                     jmp  drain
  '66837c241600', //    drained: cmp  word ptr [rsp+22], 0
  '0f8461ffffff', //             je   wait
  'b82b000000', //               mov  eax, 43                       accept
  '8b7c2410', //                 mov  edi, [rsp+16]
  '31f6', //                     xor  esi, esi
  '31d2', //                     xor  edx, edx
  '0f05', //                     syscall
  '89c7', //                     mov  edi, eax
  'b803000000', //               mov  eax, 3                        close
  '0f05', //                     syscall
  'e944ffffff', //               jmp  wait
  'b83c000000', //      exit:    mov  eax, 60                       exit
  '31ff', //                     xor  edi, edi
  '0f05', //                     syscall
  'b829000000', //      bound:   mov  eax, 41                       socket
  'bf01000000', //               mov  edi, 1
  '31d2', //                     xor  edx, edx
  '0f05', //                     syscall
  '4189c5', //                   mov  r13d, eax
  'b807010000', //               mov  eax, 263                      unlinkat
  '83cfff', //                   or   edi, -1
  '488d7302', //                 lea  rsi, [rbx+2]
  '31d2', //                     xor  edx, edx
  '0f05', //                     syscall
  'b831000000', //               mov  eax, 49                       bind
  '4489ef', //                   mov  edi, r13d
  '4889de', //                   mov  rsi, rbx
  'ba10000000', //               mov  edx, 16
  '0f05', //                     syscall
  '4489e8', //                   mov  eax, r13d
  'c3', //                       ret
];
