/** The waiting program for arm64, instruction by instruction. wait-program.ts says what it does. */
export const arm64WaitCode: readonly string[] = [
  'f3030091', //                   mov  x19, sp                       the count of arguments, and behind it they and the environment
  'ff0740d1', //                   sub  sp, sp, 1, lsl 12             a path of 4096 bytes at sp + 48
  'ff0301d1', //                   sub  sp, sp, 64
  '080880d2', //                   mov  x8, 64                        write
  '400080d2', //                   mov  x0, 2
  'a1140010', //                   adr  x1, ready
  '420280d2', //                   mov  x2, 18
  '010000d4', //                   svc  0
  'f4030091', //                   mov  x20, sp
  '150180d2', //                   mov  x21, 8
  '92000094', //                   bl   fill                          how many bytes and how many variables come
  'f60340b9', //                   ldr  w22, [sp]
  'f70740b9', //                   ldr  w23, [sp, 4]
  '690240f9', //                   ldr  x9, [x19]
  '780e098b', //                   add  x24, x19, x9, lsl 3
  '18430091', //                   add  x24, x24, 16                  its own environment
  'ea0318aa', //                   mov  x10, x24
  '498540f8', //          count:   ldr  x9, [x10], 8
  'e9ffffb5', //                   cbnz x9, count
  '4a0118cb', //                   sub  x10, x10, x24
  '590d178b', //                   add  x25, x10, x23, lsl 3          as many places for variables, the end among them
  '2103168b', //                   add  x1, x25, x22
  'c81b80d2', //                   mov  x8, 222                       mmap
  '000080d2', //                   mov  x0, 0
  '620080d2', //                   mov  x2, 3                         to read and write
  '430480d2', //                   mov  x3, 0x22                      private, no file
  '04008092', //                   mov  x4, -1
  '050080d2', //                   mov  x5, 0
  '010000d4', //                   svc  0
  '1f0440b1', //                   cmn  x0, 1, lsl 12
  '28110054', //                   b.hi leave
  'fa0300aa', //                   mov  x26, x0                       the new environment
  '1400198b', //                   add  x20, x0, x25
  'f90314aa', //                   mov  x25, x20
  'f50316aa', //                   mov  x21, x22
  '79000094', //                   bl   fill                          the variables, each with its end
  'ea031aaa', //                   mov  x10, x26
  'e90317aa', //                   mov  x9, x23
  'c90000b4', //          given:   cbz  x9, own
  '290500d1', //                   sub  x9, x9, 1
  '598500f8', //                   str  x25, [x10], 8
  '2b174038', //          past:    ldrb w11, [x25], 1
  'ebffff35', //                   cbnz w11, past
  'fbffff17', //                   b    given
  '0b8740f8', //          own:     ldr  x11, [x24], 8
  '4b0200b4', //                   cbz  x11, whole
  'ec031aaa', //                   mov  x12, x26
  'e90317aa', //                   mov  x9, x23
  'a90100b4', //          other:   cbz  x9, keep                      nothing that was given has its name
  '290500d1', //                   sub  x9, x9, 1
  '8d8540f8', //                   ldr  x13, [x12], 8
  '0e0080d2', //                   mov  x14, 0
  '6f696e38', //          letter:  ldrb w15, [x11, x14]
  'b0696e38', //                   ldrb w16, [x13, x14]
  'ff01106b', //                   cmp  w15, w16
  '21ffff54', //                   b.ne other
  'ce050091', //                   add  x14, x14, 1
  '6ffeff34', //                   cbz  w15, own
  'fff50071', //                   cmp  w15, 61                       =
  '21ffff54', //                   b.ne letter
  'f0ffff17', //                   b    own
  '4b8500f8', //          keep:    str  x11, [x10], 8
  'eeffff17', //                   b    own
  '5f0100f9', //          whole:   str  xzr, [x10]
  '080880d2', //                   mov  x8, 64                        write
  '400080d2', //                   mov  x0, 2
  '810d0050', //                   adr  x1, begun
  '620280d2', //                   mov  x2, 19
  '010000d4', //                   svc  0
  '080780d2', //                   mov  x8, 56                        openat: nobody reads what was given once more
  '00008092', //                   mov  x0, -1
  '810d0030', //                   adr  x1, null
  '020080d2', //                   mov  x2, 0
  '010000d4', //                   svc  0
  'f40300aa', //                   mov  x20, x0
  '080380d2', //                   mov  x8, 24                        dup3
  '010080d2', //                   mov  x1, 0
  '020080d2', //                   mov  x2, 0
  '010000d4', //                   svc  0
  'e00314aa', //                   mov  x0, x20
  '280780d2', //                   mov  x8, 57                        close
  '010000d4', //                   svc  0
  '76420091', //                   add  x22, x19, 16                  the program and its arguments
  'd70240f9', //                   ldr  x23, [x22]                    its name
  '770a00b4', //                   cbz  x23, leave
  'e9024039', //                   ldrb w9, [x23]
  '49070034', //                   cbz  w9, init
  'ea0317aa', //                   mov  x10, x23
  '49154038', //          slash:   ldrb w9, [x10], 1
  '3fbd0071', //                   cmp  w9, 47                        /
  '20060054', //                   b.eq direct
  'a9ffff35', //                   cbnz w9, slash
  'ea031aaa', //                   mov  x10, x26
  '4b8540f8', //          search:  ldr  x11, [x10], 8
  '4b0600b4', //                   cbz  x11, init                     no PATH
  '8c0b0070', //                   adr  x12, path
  '0d0080d2', //                   mov  x13, 0
  '8e696d38', //          same:    ldrb w14, [x12, x13]
  'ce000034', //                   cbz  w14, found
  '6f696d38', //                   ldrb w15, [x11, x13]
  'ad050091', //                   add  x13, x13, 1
  'df010f6b', //                   cmp  w14, w15
  'e1feff54', //                   b.ne search
  'faffff17', //                   b    same
  '78150091', //          found:   add  x24, x11, 5
  'fbc30091', //                   add  x27, sp, 48
  '79074091', //                   add  x25, x27, 1, lsl 12           the end of the room for a path
  'ea031baa', //          folder:  mov  x10, x27
  '09034039', //          copy:    ldrb w9, [x24]
  '09010034', //                   cbz  w9, joint
  '3fe90071', //                   cmp  w9, 58                        :
  'c0000054', //                   b.eq joint
  '18070091', //                   add  x24, x24, 1
  '5f0119eb', //                   cmp  x10, x25
  '42ffff54', //                   b.hs copy
  '49150038', //                   strb w9, [x10], 1
  'f8ffff17', //                   b    copy
  'eb0317aa', //          joint:   mov  x11, x23
  '5f011beb', //                   cmp  x10, x27
  'a0000054', //                   b.eq name                          an empty entry is the working folder
  '5f0119eb', //                   cmp  x10, x25
  'e2010054', //                   b.hs missed
  'e9058052', //                   mov  w9, 47
  '49150038', //                   strb w9, [x10], 1
  '5f0119eb', //          name:    cmp  x10, x25
  '62010054', //                   b.hs missed
  '69154038', //                   ldrb w9, [x11], 1
  '49150038', //                   strb w9, [x10], 1
  '89ffff35', //                   cbnz w9, name
  'a81b80d2', //                   mov  x8, 221                       execve
  'e0031baa', //                   mov  x0, x27
  'e10316aa', //                   mov  x1, x22
  'e2031aaa', //                   mov  x2, x26
  '010000d4', //                   svc  0
  '1f2000b1', //                   cmn  x0, 8                         no program: a script without a first line
  '20010054', //                   b.eq init
  '09174038', //          missed:  ldrb w9, [x24], 1
  '49fcff35', //                   cbnz w9, folder
  '06000014', //                   b    init
  'a81b80d2', //          direct:  mov  x8, 221                       execve
  'e00317aa', //                   mov  x0, x23
  'e10316aa', //                   mov  x1, x22
  'e2031aaa', //                   mov  x2, x26
  '010000d4', //                   svc  0
  'a0040070', //          init:    adr  x0, first                     the engine's first process has the words for what is wrong
  '29050030', //                   adr  x9, option
  '60821ff8', //                   str  x0, [x19, -8]
  '690200f9', //                   str  x9, [x19]
  '290d0091', //                   add  x9, x9, 3
  '690600f9', //                   str  x9, [x19, 8]
  '612200d1', //                   sub  x1, x19, 8
  'e2031aaa', //                   mov  x2, x26
  'a81b80d2', //                   mov  x8, 221                       execve
  '010000d4', //                   svc  0
  'e00f80d2', //                   mov  x0, 127
  '0d000014', //                   b    exit
  'e80780d2', //          fill:    mov  x8, 63                        read
  '000080d2', //                   mov  x0, 0
  'e10314aa', //                   mov  x1, x20
  'e20315aa', //                   mov  x2, x21
  '010000d4', //                   svc  0
  '1f0000f1', //                   cmp  x0, 0
  'ad000054', //                   b.le leave                         whoever was to give it is gone
  '9402008b', //                   add  x20, x20, x0
  'b50200eb', //                   subs x21, x21, x0
  'e1feff54', //                   b.ne fill
  'c0035fd6', //                   ret
  '000080d2', //          leave:   mov  x0, 0
  'a80b80d2', //          exit:    mov  x8, 93                        exit
  '010000d4', //                   svc  0
];
