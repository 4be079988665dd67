import { isUtf8 } from 'node:buffer';

/** What HTTP Basic carries (RFC 7617). */
export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

/** The challenge of a reply that asks for a username and a password. */
export const basicChallenge = 'Basic realm="reactord", charset="UTF-8"';

export const isBasic = (header: string): boolean => /^basic(?: |$)/i.test(header);

/**
 * Reads an Authorization header strictly: base64 with its padding and nothing else, UTF-8, split at the first colon, no
 * control characters. Undefined when it is anything else: two readings of one header are one too many.
 */
export function readBasic(header: string): BasicCredentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  // Node skips what is not base64; only text that comes out the same again was base64.
  if (bytes.toString('base64') !== encoded) return undefined;
  const text = isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon < 1 || hasControls(text)) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function hasControls(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}
