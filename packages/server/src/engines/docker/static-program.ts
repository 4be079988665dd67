/** Programs of a few hundred bytes that need no library, written out instruction by instruction, as executables. */

/** The ELF numbers of the processors for which there is code. */
const machines = { amd64: 62, arm64: 183 } as const;
type Architecture = keyof typeof machines;

/** Instructions in hexadecimal. */
type Code = readonly string[];

const fileHeaderLength = 64;
const segmentHeaderLength = 56;
const base = 0x400000n;

/**
 * The executable for an engine's architecture, or undefined where there is none for it. `constants` stand behind the
 * code, which finds them by their distance.
 */
export function staticProgram(
  architecture: string,
  codes: Readonly<Record<Architecture, Code>>,
  constants: Buffer,
): Buffer | undefined {
  if (architecture !== 'amd64' && architecture !== 'arm64') return undefined;
  const code = Buffer.concat([Buffer.from(codes[architecture].join(''), 'hex'), constants]);
  const entry = fileHeaderLength + segmentHeaderLength;
  const length = BigInt(entry + code.length);

  const header = Buffer.alloc(entry);
  header.write('7f454c46020101', 'hex'); // ELF, 64 bits, little-endian, version 1
  header.writeUInt16LE(2, 16); // an executable
  header.writeUInt16LE(machines[architecture], 18);
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
