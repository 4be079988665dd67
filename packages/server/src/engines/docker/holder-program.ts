/**
 * The whole program of a network holder: it blocks the signals that ask a process to stop, waits for one of them and
 * exits. Waiting is better than a handler here: the kernel drops an unhandled signal to the first process of a
 * container, but keeps a blocked one. Static, without a library, and too small to have anything wrong with it.
 */

interface Program {
  /** The ELF number of the processor. */
  readonly machine: number;
  readonly code: string;
}

/** HUP, INT, QUIT and TERM: bit n - 1 stands for signal n. */
const signals = '0740000000000000';

const programs: Readonly<Record<string, Program>> = {
  amd64: {
    machine: 62,
    code: [
      'b80e000000', //         mov  eax, 14            rt_sigprocmask
      '31ff', //               xor  edi, edi           SIG_BLOCK
      '488d352f000000', //     lea  rsi, [signals]
      '31d2', //               xor  edx, edx
      '41ba08000000', //       mov  r10d, 8            size of the set
      '0f05', //               syscall
      'b880000000', //   wait: mov  eax, 128           rt_sigtimedwait
      '488d3d19000000', //     lea  rdi, [signals]
      '31f6', //               xor  esi, esi
      '31d2', //               xor  edx, edx           no limit
      '41ba08000000', //       mov  r10d, 8
      '0f05', //               syscall
      '85c0', //               test eax, eax
      '7ee4', //               jle  wait               interrupted: wait on
      'b83c000000', //         mov  eax, 60            exit
      '31ff', //               xor  edi, edi
      '0f05', //               syscall
      signals,
    ].join(''),
  },
  arm64: {
    machine: 183,
    code: [
      'e81080d2', //       mov  x8, 135                rt_sigprocmask
      '000080d2', //       mov  x0, 0                  SIG_BLOCK
      'e1010010', //       adr  x1, signals
      '020080d2', //       mov  x2, 0
      '030180d2', //       mov  x3, 8                  size of the set
      '010000d4', //       svc  0
      '281180d2', // wait: mov  x8, 137                rt_sigtimedwait
      '40010010', //       adr  x0, signals
      '010080d2', //       mov  x1, 0
      '020080d2', //       mov  x2, 0                  no limit
      '030180d2', //       mov  x3, 8
      '010000d4', //       svc  0
      '1f000071', //       cmp  w0, 0
      '2dffff54', //       b.le wait                   interrupted: wait on
      'a80b80d2', //       mov  x8, 93                 exit
      '000080d2', //       mov  x0, 0
      '010000d4', //       svc  0
      signals,
    ].join(''),
  },
};

const fileHeaderLength = 64;
const segmentHeaderLength = 56;
const base = 0x400000n;

/** The executable for an engine's architecture, or undefined where there is none for it. */
export function holderProgram(architecture: string): Buffer | undefined {
  const program = programs[architecture];
  if (program === undefined) return undefined;
  const code = Buffer.from(program.code, 'hex');
  const entry = fileHeaderLength + segmentHeaderLength;
  const length = BigInt(entry + code.length);

  const header = Buffer.alloc(entry);
  header.write('7f454c46020101', 'hex'); // ELF, 64 bits, little-endian, version 1
  header.writeUInt16LE(2, 16); // an executable
  header.writeUInt16LE(program.machine, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(base + BigInt(entry), 24); // where it begins
  header.writeBigUInt64LE(BigInt(fileHeaderLength), 32); // its one segment's header
  header.writeUInt16LE(fileHeaderLength, 52);
  header.writeUInt16LE(segmentHeaderLength, 54);
  header.writeUInt16LE(1, 56);

  const segment = header.subarray(fileHeaderLength);
  segment.writeUInt32LE(1, 0); // to be loaded
  segment.writeUInt32LE(5, 4); // to be read and executed
  segment.writeBigUInt64LE(base, 16);
  segment.writeBigUInt64LE(base, 24);
  segment.writeBigUInt64LE(length, 32);
  segment.writeBigUInt64LE(length, 40);
  segment.writeBigUInt64LE(0x10000n, 48); // pages of any size that arm64 has
  return Buffer.concat([header, code]);
}
