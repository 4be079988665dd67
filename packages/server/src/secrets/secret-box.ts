import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { fail } from '../errors.ts';

interface Key {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** What is kept of a secret: bytes that nobody can read without the key, and which key that is. */
export interface Sealed {
  readonly sealed: Uint8Array;
  readonly keyId: string;
}

const algorithm = 'aes-256-gcm';
/** The first byte of what is kept, should there be another way one day. */
const form = 1;
const ivLength = 12;
const tagLength = 16;

/**
 * Encrypts secrets for the store, and reads them back (AES-256-GCM). `context` says what the secret belongs to: sealed
 * bytes that were moved to another row do not open.
 */
export class SecretBox {
  readonly #current: Key;
  readonly #keys: ReadonlyMap<string, Key>;

  /** Seals with the first key, and opens with all. */
  constructor(current: Uint8Array, older: readonly Uint8Array[] = []) {
    this.#current = keyOf(current);
    this.#keys = new Map([...older.map(keyOf), this.#current].map((key) => [key.id, key]));
  }

  get keyId(): string {
    return this.#current.id;
  }

  knows(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  seal(secret: string, context: string): Sealed {
    const { id: keyId, bytes } = this.#current;
    const iv = randomBytes(ivLength);
    const cipher = createCipheriv(algorithm, bytes, iv).setAAD(Buffer.from(context));
    const hidden = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const sealed = Buffer.concat([Buffer.of(form), iv, cipher.getAuthTag(), hidden]);
    return { sealed, keyId };
  }

  /** Throws `key_missing`, naming `what`, when the key is not there or the bytes are not what was sealed. */
  open({ sealed, keyId }: Sealed, context: string, what: string): string {
    const key = this.#keys.get(keyId);
    const missing = () => fail('key_missing', { what, keyId });
    if (key === undefined || sealed[0] !== form) throw missing();
    const [tagAt, bodyAt] = [1 + ivLength, 1 + ivLength + tagLength];
    const decipher = createDecipheriv(algorithm, key.bytes, sealed.subarray(1, tagAt), {
      authTagLength: tagLength,
    });
    try {
      decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(tagAt, bodyAt));
      return decipher.update(sealed.subarray(bodyAt), undefined, 'utf8') + decipher.final('utf8');
    } catch (cause) {
      throw Object.assign(missing(), { cause });
    }
  }
}

/** The id says which key it is, and nothing of the key. */
function keyOf(bytes: Uint8Array): Key {
  const id = hash('sha256', Buffer.concat([Buffer.from('reactord secrets '), bytes])).slice(0, 16);
  return { id, bytes };
}
