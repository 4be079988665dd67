import { createHash, randomBytes } from 'node:crypto';
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
} as const;

export type SecretKind = keyof typeof prefixes;

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bodyLength = 43;
const checksumLength = 6;

export function newSecret(kind: SecretKind): string {
  return secretFrom(kind, randomBytes(32));
}

/** The secret whose 256 bits are given. */
export function secretFrom(kind: SecretKind, bits: Uint8Array): string {
  const body = base62(BigInt(`0x${Buffer.from(bits).toString('hex')}`), bodyLength);
  return prefixes[kind] + body + checksum(prefixes[kind] + body);
}

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
  return createHash('sha256').update(secret).digest();
}

/** Any secret of ours inside a longer text, for redaction. */
export const secretPattern = /rct_(?:at|rt|cs|ac|dc)_[0-9A-Za-z]{49}/g;

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), checksumLength);
}

function base62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  for (let index = 0; index < length; index += 1) {
    text = digits[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
}
