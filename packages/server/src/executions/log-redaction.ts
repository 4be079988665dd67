import { unfinishedCharacter } from './log-lines.ts';

/** A stretch of output that is ready to be kept: `raw` bytes of what the container wrote became `bytes`. */
export interface Piece {
  readonly raw: number;
  readonly bytes: Uint8Array;
  /** It stands for a secret, and is kept whole or not at all. */
  readonly secret: boolean;
}

const redacted = Buffer.from('[redacted]');
const nothing = Buffer.alloc(0);

/**
 * Goes over one stream of a container and takes secrets out by value. What may be the beginning of a secret, or of a
 * character of more than one byte, is held back until the rest has come; so a secret is found however it was
 * split over writes, and no piece ends within a character.
 *
 * What becomes of a byte depends on nothing before the last piece. So a service that comes back may begin anew behind
 * the pieces that it has kept, and gets the same as if it had never been away.
 */
export class StreamRedaction {
  readonly #secrets: readonly Buffer[];
  #held: Buffer = nothing;

  constructor(secrets: readonly string[]) {
    // Longest first: where one secret begins with another, the whole of it has to go.
    this.#secrets = [...new Set(secrets)]
      .filter((secret) => secret !== '')
      .map((secret) => Buffer.from(secret))
      .sort((a, b) => b.length - a.length);
  }

  push(bytes: Uint8Array): Piece[] {
    return this.#cut(Buffer.concat([this.#held, bytes]), false);
  }

  /** The stream has ended: what was held back is nothing but itself. */
  end(): Piece[] {
    return this.#cut(this.#held, true);
  }

  #cut(data: Buffer, ended: boolean): Piece[] {
    const pieces: Piece[] = [];
    let from = 0;
    let unsure = ended ? data.length : this.#unsureFrom(data, from);
    for (;;) {
      const match = this.#nextSecret(data, from);
      // A longer secret may yet begin before this one, or in the same place.
      if (match === undefined || unsure <= match.at) break;
      keep(pieces, data.subarray(from, match.at));
      pieces.push({ raw: match.length, bytes: redacted, secret: true });
      from = match.at + match.length;
      if (unsure < from) unsure = this.#unsureFrom(data, from);
    }
    const unfinished = ended ? 0 : unfinishedCharacter(data.subarray(from));
    const end = unsure < data.length ? unsure : data.length - unfinished;
    keep(pieces, data.subarray(from, end));
    // A copy: a view would keep the whole of a large write in memory.
    this.#held = Buffer.from(data.subarray(end));
    return pieces;
  }

  /** Lets go of what is held back, and says how many bytes it was. */
  forget(): number {
    const { length } = this.#held;
    this.#held = nothing;
    return length;
  }

  /** The first secret at or behind a place, the longest of those that begin there. */
  #nextSecret(data: Buffer, from: number): { at: number; length: number } | undefined {
    let first: { at: number; length: number } | undefined;
    for (const secret of this.#secrets) {
      const at = data.indexOf(secret, from);
      if (at !== -1 && (first === undefined || at < first.at))
        first = { at, length: secret.length };
    }
    return first;
  }

  /** From where the data may be the beginning of a secret; its end when it is none. */
  #unsureFrom(data: Buffer, from: number): number {
    const longest = this.#secrets[0]?.length ?? 0;
    for (let at = Math.max(from, data.length - longest + 1); at < data.length; at += 1) {
      const rest = data.length - at;
      const begins = (secret: Buffer) =>
        secret.length > rest &&
        secret[0] === data[at] &&
        secret.compare(data, at, data.length, 0, rest) === 0;
      if (this.#secrets.some(begins)) return at;
    }
    return data.length;
  }
}

function keep(pieces: Piece[], bytes: Uint8Array): void {
  if (bytes.length > 0) pieces.push({ raw: bytes.length, bytes, secret: false });
}
