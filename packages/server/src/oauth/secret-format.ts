import { hash, randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * How every secret of the service looks: `rct_at_` + 43 characters of base62 (256 random bits) + 6 of a checksum.
 * The prefix lets people, secret scanners and log filters recognise it; the checksum lets a mistyped or made-up one
 * be refused without asking the store.
 */
const prefixes = {
  accessToken: 'rct_at_',
  refreshToken: 'rct_rt_',
  clientSecret: 'rct_cs_',
  authorizationCode: 'rct_ac_',
  deviceCode: 'rct_dc_',
  nonce: 'rct_nc_',
} as const;

export type SecretKind = keyof typeof prefixes;

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bodyLength = 43;
const checksumLength = 6;

/** Random bytes are taken in bulk: one at a time they cost more than all the rest of a token. */
const pool = Buffer.alloc(4096);
let taken = pool.length;

/** Bytes past the last whole multiple of 62 would favour the first digits. */
const fairBytes = 256 - (256 % digits.length);

function randomDigit(): string {
  for (;;) {
    if (taken === pool.length) {
      randomFillSync(pool);
      taken = 0;
    }
    const byte = pool[taken] ?? 0;
    pool[taken] = 0;
    taken += 1;
    if (byte < fairBytes) return digits[byte % digits.length] ?? '';
  }
}

export function newSecret(kind: SecretKind): string {
  let text: string = prefixes[kind];
  for (let place = 0; place < bodyLength; place += 1) text += randomDigit();
  return text + checksum(text);
}

/** The secret whose 256 bits are given. */
export function secretFrom(kind: SecretKind, bits: Uint8Array): string {
  const body = base62(bits, bodyLength);
  return prefixes[kind] + body + checksum(prefixes[kind] + body);
}

/** How many characters an access token has. */
export const accessTokenLength = prefixes.accessToken.length + bodyLength + checksumLength;

/** Whether the text can be a secret of this kind: its form and its checksum fit. */
export function looksLike(kind: SecretKind, text: string): boolean {
  const prefix = prefixes[kind];
  if (text.length !== prefix.length + bodyLength + checksumLength || !text.startsWith(prefix))
    return false;
  const split = text.length - checksumLength;
  return text.slice(split) === checksum(text.slice(0, split));
}

/** What the store keeps of a secret. A fast hash is enough: there are 256 bits to guess. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Any secret of ours inside a longer text, for redaction. */
export const secretPattern = /rct_(?:at|rt|cs|ac|dc|nc)_[0-9A-Za-z]{49}/g;

function checksum(text: string): string {
  return digitsOf(crc32(text), checksumLength);
}

/** Five digits are divided off at a time: 62^5 and 16 bits more still fit into a number exactly. */
const chunkLength = 5;
const chunkSize = 62 ** chunkLength;

/** The bytes as one big-endian number in base 62, from the right, as many digits as wanted. */
function base62(bytes: Uint8Array, length: number): string {
  const limbs: number[] = [];
  for (let at = 0; at < bytes.length; at += 2)
    limbs.push(((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0));
  let text = '';
  while (text.length < length) {
    let rest = 0;
    for (let place = 0; place < limbs.length; place += 1) {
      const value = rest * 65_536 + (limbs[place] ?? 0);
      const quotient = Math.floor(value / chunkSize);
      limbs[place] = quotient;
      rest = value - quotient * chunkSize;
    }
    text = digitsOf(rest, Math.min(chunkLength, length - text.length)) + text;
  }
  return text;
}

function digitsOf(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let index = 0; index < length; index += 1) {
    text = digits[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
