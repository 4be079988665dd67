import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const argon2id = promisify(argon2).bind(undefined, 'argon2id');

/** OWASP's minimum for argon2id. Raising a number here rehashes each password at its next login. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;

/** A PHC string, `$argon2id$v=19$m=…,t=…,p=…$salt$hash`: it says itself how it was made. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await argon2id({ message: password, nonce, tagLength, ...cost });
  return phc(nonce, tag);
}

/** Looks like a hash, takes as long to check as one, and no password fits it: for users that do not exist. */
export function unmatchableHash(): string {
  return phc(randomBytes(16), randomBytes(tagLength));
}

export async function passwordMatches(password: string, stored: string): Promise<boolean> {
  const parts = parse(stored);
  if (parts === undefined) return false;
  const { nonce, tag, ...how } = parts;
  const given = await argon2id({ message: password, nonce, tagLength: tag.length, ...how });
  return timingSafeEqual(given, tag);
}

/** Whether the stored hash was made with less than today's cost. */
export function isOutdated(stored: string): boolean {
  const parts = parse(stored);
  return parts === undefined || parts.memory < cost.memory || parts.passes < cost.passes;
}

function parse(stored: string) {
  const match =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(stored);
  if (match === null) return undefined;
  const [, memory, passes, parallelism, nonce = '', tag = ''] = match;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    nonce: Buffer.from(nonce, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function phc(nonce: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${toBase64(nonce)}$${toBase64(tag)}`;
}

const toBase64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
