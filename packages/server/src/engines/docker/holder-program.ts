import { amd64Code } from './holder-code-amd64.ts';
import { arm64Code } from './holder-code-arm64.ts';

/**
 * The whole program of a holder. It holds a network by being there, and gathers what containers send: each datagram
 * that arrives at the socket `sink` is appended to the file `spool`, its length before it in four bytes, least first.
 * What does not fit into the file, which is limited, is dropped as a whole. Whoever connects to the socket `bell` is
 * hung up on when everything sent before is in the file. It ends when a signal asks it to; without the folder /results
 * it does nothing but wait for that. Static, and without a library.
 */

interface Program {
  /** The ELF number of the processor. */
  readonly machine: number;
  readonly code: readonly string[];
}

const programs: Readonly<Record<string, Program>> = {
  amd64: { machine: 62, code: amd64Code },
  arm64: { machine: 183, code: arm64Code },
};

/** Where the holder has its folder. */
export const holderFolder = '/results';

/** What stands behind the code, in this order: it is found there by its distance. */
const constants = Buffer.concat([
  // Bit n - 1 stands for signal n. Blocked are HUP, INT, QUIT, TERM, and XFSZ, with which a full file would kill.
  Buffer.from('0740000100000000', 'hex'),
  // Those that end it.
  Buffer.from('0740000000000000', 'hex'),
  // AF_UNIX and a path.
  Buffer.from(`\x01\0${holderFolder}/sink\0`, 'latin1'),
  Buffer.from(`\x01\0${holderFolder}/bell\0`, 'latin1'),
  Buffer.from(`${holderFolder}/spool\0`, 'latin1'),
]);

const fileHeaderLength = 64;
const segmentHeaderLength = 56;
const base = 0x400000n;

/** The executable for an engine's architecture, or undefined where there is none for it. */
export function holderProgram(architecture: string): Buffer | undefined {
  const program = programs[architecture];
  if (program === undefined) return undefined;
  const code = Buffer.concat([Buffer.from(program.code.join(''), 'hex'), constants]);
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
