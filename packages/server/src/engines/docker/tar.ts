import type { HandedFile } from '../engine.ts';

const block = 512;
const endOfArchive = new Uint8Array(2 * block);

export interface TarArchive {
  readonly length: number;
  /** The contents themselves and not copies, so that a large file is in memory once. */
  readonly parts: readonly Uint8Array[];
}

/** An archive in the ustar format, with every file owned by root. */
export function tarOf(files: readonly HandedFile[]): TarArchive {
  const parts: Uint8Array[] = [];
  for (const file of files) {
    parts.push(headerOf(file), file.content);
    const over = file.content.length % block;
    if (over > 0) parts.push(new Uint8Array(block - over));
  }
  parts.push(endOfArchive);
  return { length: parts.reduce((sum, part) => sum + part.length, 0), parts };
}

function headerOf({ path, mode, content }: HandedFile): Uint8Array {
  const header = Buffer.alloc(block);
  const { name, prefix } = splitPath(path.replace(/^\/+/, ''));
  const octal = (value: number, at: number, length: number): void => {
    header.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1');
  };
  header.write(name, 0, 'utf8');
  octal(mode & 0o7777, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(Math.floor(Date.now() / 1000), 136, 12);
  // The checksum counts its own field as spaces.
  header.write('        0', 148, 'latin1');
  header.write('ustar\u000000root', 257, 'latin1');
  header.write('root', 297, 'latin1');
  header.write(prefix, 345, 'utf8');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148, 'latin1');
  return header;
}

/** The format has 100 bytes for the name and 155 for the folders before it. */
function splitPath(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { name, prefix };
  }
  throw new RangeError(`the path ${path} is too long`);
}
