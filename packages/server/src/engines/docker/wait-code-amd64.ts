/** The waiting program for amd64, instruction by instruction. wait-program.ts says what it does. */
export const amd64WaitCode: readonly string[] = [
  '4989e4', //                     mov  r12, rsp                      the count of arguments, and behind it they and the environment
  '4881ec20100000', //             sub  rsp, 0x1020                   a path of 4096 bytes at rsp + 16
  'b801000000', //                 mov  eax, 1                        write
  'bf02000000', //                 mov  edi, 2
  '488d3564020000', //             lea  rsi, [rip+ready]
  'ba12000000', //                 mov  edx, 18
  '0f05', //                       syscall
  '4889e3', //                     mov  rbx, rsp
  'bd08000000', //                 mov  ebp, 8
  'e82f020000', //                 call fill                          how many bytes and how many variables come
  '448b2c24', //                   mov  r13d, [rsp]
  '448b742404', //                 mov  r14d, [rsp+4]
  '498b0424', //                   mov  rax, [r12]
  '4d8d7cc410', //                 lea  r15, [r12+rax*8+16]           its own environment
  '31c9', //                       xor  ecx, ecx
  '48ffc1', //            count:   inc  rcx
  '49837ccff800', //               cmp  qword ptr [r15+rcx*8-8], 0
  '75f5', //                       jne  count
  '4e8d0431', //                   lea  r8, [rcx+r14]                 as many places for variables, the end among them
  '49c1e003', //                   shl  r8, 3
  '4c89442408', //                 mov  [rsp+8], r8
  '4b8d3428', //                   lea  rsi, [r8+r13]
  'b809000000', //                 mov  eax, 9                        mmap
  '31ff', //                       xor  edi, edi
  'ba03000000', //                 mov  edx, 3                        to read and write
  '41ba22000000', //               mov  r10d, 0x22                    private, no file
  '4983c8ff', //                   or   r8, -1
  '4531c9', //                     xor  r9d, r9d
  '0f05', //                       syscall
  '483d00f0ffff', //               cmp  rax, -4096
  '0f87f0010000', //               ja   leave
  '48890424', //                   mov  [rsp], rax                    the new environment
  '4889c3', //                     mov  rbx, rax
  '48035c2408', //                 add  rbx, [rsp+8]
  '4489ed', //                     mov  ebp, r13d
  '4989dd', //                     mov  r13, rbx
  'e8c1010000', //                 call fill                          the variables, each with its end
  '488b3c24', //                   mov  rdi, [rsp]
  '4489f1', //                     mov  ecx, r14d
  'ffc9', //              given:   dec  ecx
  '7813', //                       js   own
  '4c892f', //                     mov  [rdi], r13
  '4883c708', //                   add  rdi, 8
  '49ffc5', //            past:    inc  r13
  '41807dff00', //                 cmp  byte ptr [r13-1], 0
  '75f6', //                       jne  past
  'ebe9', //                       jmp  given
  '498b37', //            own:     mov  rsi, [r15]
  '4983c708', //                   add  r15, 8
  '4885f6', //                     test rsi, rsi
  '7432', //                       jz   whole
  '488b1c24', //                   mov  rbx, [rsp]
  '4489f1', //                     mov  ecx, r14d
  'ffc9', //              other:   dec  ecx
  '781e', //                       js   keep                          nothing that was given has its name
  '488b13', //                     mov  rdx, [rbx]
  '4883c308', //                   add  rbx, 8
  '31ed', //                       xor  ebp, ebp
  '8a042e', //            letter:  mov  al, [rsi+rbp]
  '3a042a', //                     cmp  al, [rdx+rbp]
  '75eb', //                       jne  other
  '48ffc5', //                     inc  rbp
  '84c0', //                       test al, al
  '74d1', //                       jz   own
  '3c3d', //                       cmp  al, 61                        =
  '75ed', //                       jne  letter
  'ebcb', //                       jmp  own
  '488937', //            keep:    mov  [rdi], rsi
  '4883c708', //                   add  rdi, 8
  'ebc2', //                       jmp  own
  '48c70700000000', //    whole:   mov  qword ptr [rdi], 0
  'b801000000', //                 mov  eax, 1                        write
  'bf02000000', //                 mov  edi, 2
  '488d3580010000', //             lea  rsi, [rip+begun]
  'ba13000000', //                 mov  edx, 19
  '0f05', //                       syscall
  'b802000000', //                 mov  eax, 2                        open: nobody reads what was given once more
  '488d3d80010000', //             lea  rdi, [rip+null]
  '31f6', //                       xor  esi, esi
  '0f05', //                       syscall
  '89c3', //                       mov  ebx, eax
  '89c7', //                       mov  edi, eax
  'b821000000', //                 mov  eax, 33                       dup2
  '31f6', //                       xor  esi, esi
  '0f05', //                       syscall
  '89df', //                       mov  edi, ebx
  'b803000000', //                 mov  eax, 3                        close
  '0f05', //                       syscall
  '4c8b2c24', //                   mov  r13, [rsp]
  '4d8b742410', //                 mov  r14, [r12+16]                 the program's name
  '4d8d7c2410', //                 lea  r15, [r12+16]                 it and its arguments
  '4d85f6', //                     test r14, r14
  '0f8421010000', //               jz   leave
  '41803e00', //                   cmp  byte ptr [r14], 0
  '0f84c9000000', //               je   init
  '4c89f7', //                     mov  rdi, r14
  '8a07', //              slash:   mov  al, [rdi]
  '48ffc7', //                     inc  rdi
  '3c2f', //                       cmp  al, 47                        /
  '0f84a9000000', //               je   direct
  '84c0', //                       test al, al
  '75ef', //                       jnz  slash
  '4c89eb', //                     mov  rbx, r13
  '488b33', //            search:  mov  rsi, [rbx]
  '4883c308', //                   add  rbx, 8
  '4885f6', //                     test rsi, rsi
  '0f84a2000000', //               jz   init                          no PATH
  '488d3d39010000', //             lea  rdi, [rip+path]
  '4889f5', //                     mov  rbp, rsi
  '8a07', //              same:    mov  al, [rdi]
  '84c0', //                       test al, al
  '740d', //                       jz   folder
  '3a4500', //                     cmp  al, [rbp]
  '75db', //                       jne  search
  '48ffc7', //                     inc  rdi
  '48ffc5', //                     inc  rbp
  'ebed', //                       jmp  same
  '488d7c2410', //        folder:  lea  rdi, [rsp+16]
  '4c8d842410100000', //           lea  r8, [rsp+0x1010]              the end of the room for a path
  '8a4500', //            copy:    mov  al, [rbp]
  '84c0', //                       test al, al
  '7413', //                       jz   joint
  '3c3a', //                       cmp  al, 58                        :
  '740f', //                       je   joint
  '48ffc5', //                     inc  rbp
  '4c39c7', //                     cmp  rdi, r8
  '73ed', //                       jae  copy
  '8807', //                       mov  [rdi], al
  '48ffc7', //                     inc  rdi
  'ebe6', //                       jmp  copy
  '488d442410', //        joint:   lea  rax, [rsp+16]
  '4c89f6', //                     mov  rsi, r14
  '4839c7', //                     cmp  rdi, rax
  '740b', //                       je   name                          an empty entry is the working folder
  '4c39c7', //                     cmp  rdi, r8
  '7330', //                       jae  missed
  'c6072f', //                     mov  byte ptr [rdi], 47
  '48ffc7', //                     inc  rdi
  '4c39c7', //            name:    cmp  rdi, r8
  '7325', //                       jae  missed
  '8a06', //                       mov  al, [rsi]
  '48ffc6', //                     inc  rsi
  '8807', //                       mov  [rdi], al
  '48ffc7', //                     inc  rdi
  '84c0', //                       test al, al
  '75ed', //                       jnz  name
  'b83b000000', //                 mov  eax, 59                       execve
  '488d7c2410', //                 lea  rdi, [rsp+16]
  '4c89fe', //                     mov  rsi, r15
  '4c89ea', //                     mov  rdx, r13
  '0f05', //                       syscall
  '83f8f8', //                     cmp  eax, -8                       no program: a script without a first line
  '741c', //                       je   init
  '807d0000', //          missed:  cmp  byte ptr [rbp], 0
  '488d6d01', //                   lea  rbp, [rbp+1]
  '758d', //                       jne  folder
  'eb10', //                       jmp  init
  'b83b000000', //        direct:  mov  eax, 59                       execve
  '4c89f7', //                     mov  rdi, r14
  '4c89fe', //                     mov  rsi, r15
  '4c89ea', //                     mov  rdx, r13
  '0f05', //                       syscall
  '488d3d7f000000', //    init:    lea  rdi, [rip+first]              the engine's first process has the words for what is wrong
  '488d058a000000', //             lea  rax, [rip+option]
  '49897c24f8', //                 mov  [r12-8], rdi
  '49890424', //                   mov  [r12], rax
  '4883c003', //                   add  rax, 3
  '4989442408', //                 mov  [r12+8], rax
  '498d7424f8', //                 lea  rsi, [r12-8]
  '4c89ea', //                     mov  rdx, r13
  'b83b000000', //                 mov  eax, 59                       execve
  '0f05', //                       syscall
  'bf7f000000', //                 mov  edi, 127
  'eb1a', //                       jmp  exit
  '31c0', //              fill:    xor  eax, eax                      read
  '31ff', //                       xor  edi, edi
  '4889de', //                     mov  rsi, rbx
  '89ea', //                       mov  edx, ebp
  '0f05', //                       syscall
  '4885c0', //                     test rax, rax
  '7e08', //                       jle  leave                         whoever was to give it is gone
  '4801c3', //                     add  rbx, rax
  '29c5', //                       sub  ebp, eax
  '75e9', //                       jnz  fill
  'c3', //                         ret
  '31ff', //              leave:   xor  edi, edi
  'b83c000000', //        exit:    mov  eax, 60                       exit
  '0f05', //                       syscall
];
