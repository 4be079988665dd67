import { isUtf8 } from 'node:buffer';
import { fail, type ServiceError } from '../errors.ts';
import type { ContentType } from './execution.ts';

/** A message as it was understood. */
export interface Message {
  readonly contentType: ContentType;
  readonly body: Uint8Array;
  /** What the reply shows of it. */
  readonly shown: unknown;
}

export interface GivenMessage {
  /** The request's Content-Type, where it has one. */
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
  /** The query parameter `message`. */
  readonly queryMessage: unknown;
}

const accepted =
  'application/json, application/octet-stream, application/x-www-form-urlencoded or multipart/form-data with a field message, text/* and other text types';

/** Types of text that do not begin with text/. */
const textTypes = new Set(
  ['xml', 'yaml', 'x-yaml', 'toml', 'sql', 'graphql', 'javascript', 'ecmascript'].map(
    (name) => `application/${name}`,
  ),
);

/**
 * Understands a message by the type it was sent with: a field `message` (of a form, a JSON object or the query) is a raw
 * string; octet-stream is bytes; JSON is JSON, its text kept as it was sent; other text is a raw string.
 */
export function readMessage(given: GivenMessage): Message | Promise<Message> {
  const { body, queryMessage } = given;
  if (queryMessage !== undefined) {
    if (body.byteLength > 0)
      throw invalid('message', 'stands in the address although there is a body: send one of them');
    return rawString(queryMessage);
  }
  if (body.byteLength === 0)
    throw invalid('The body', 'is empty: send a message, such as the form field message');
  const { type, charset } = parseType(given.contentType);
  switch (type) {
    case 'application/octet-stream':
      return { contentType: type, body, shown: 'binary - omitted' };
    case 'application/x-www-form-urlencoded':
      return readForm(body, charset);
    case 'multipart/form-data':
      return multipartField(given.contentType ?? '', body).then(rawString);
  }
  if (type === 'application/json' || type.endsWith('+json')) return readJson(body, charset);
  if (isText(type)) {
    const text = decode(body, charset);
    return { contentType: 'str', body: Buffer.from(text), shown: text };
  }
  throw fail('unsupported_content_type', { contentType: type, accepted });
}

function isText(type: string): boolean {
  return (
    // Nothing said: text, as long as it is UTF-8.
    type === '' || type.startsWith('text/') || textTypes.has(type) || /\+(xml|yaml)$/.test(type)
  );
}

function readJson(body: Uint8Array, charset: string): Message {
  const text = decode(body, charset);
  if (text.trim() === '')
    throw invalid('The body', 'is empty: send a message, such as a JSON document');
  return readJsonText(text);
}

/** A JSON document as a message: a raw string where it has a field `message`. */
export function readJsonText(text: string): Message {
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, 'message')) {
    const message = Reflect.get(value, 'message');
    if (message !== null) {
      return rawString(typeof message === 'string' ? message : JSON.stringify(message));
    }
  }
  return { contentType: 'application/json', body: Buffer.from(text), shown: value };
}

/** What is nested so deeply that it cannot be written again is refused here, and not when the reply is made. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw fail('malformed_json', { problem: withoutQuote(error) });
  }
  if (text.length > 1000 && (text.includes('[[') || text.includes('{"'))) {
    try {
      JSON.stringify(value);
    } catch {
      throw fail('malformed_json', { problem: 'it is nested too deeply' });
    }
  }
  return value;
}

/** The parser's own words, without the document that it quotes. */
function withoutQuote(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return words
    .replace(/,? ?"?\.{3}.*$/s, '')
    .replace(/[,:]? ?"[\s\S]*" is not valid JSON$/, '')
    .replace(/Unexpected token .*?(,|$)/s, 'unexpected token');
}

function rawString(value: unknown): Message {
  if (Array.isArray(value)) throw invalid('message', 'is given more than once');
  if (typeof value !== 'string')
    throw invalid(
      'message',
      'is required: send it as a form field, or send JSON with Content-Type: application/json',
    );
  if (value === '') throw invalid('message', 'is empty');
  if (!value.isWellFormed())
    throw invalid('message', 'has half a surrogate pair, which is no text');
  return { contentType: 'str', body: Buffer.from(value), shown: value };
}

const onlyField = 'message=';

function readForm(body: Uint8Array, charset: string): Message {
  const form = decode(body, charset);
  const isOnly = form.startsWith(onlyField) && !/[&%+]/.test(form);
  // Nearly every form: one field, and nothing in it that is escaped. Then the bytes are there already, unless they
  // are in another charset or begin with a mark of their order.
  if (!isOnly || form === onlyField || charset !== 'utf-8' || body[0] !== onlyField.charCodeAt(0))
    return rawString(fieldOf(form));
  const shown = form.slice(onlyField.length);
  return { contentType: 'str', body: body.subarray(onlyField.length), shown };
}

/** The field `message` of a form; a list when it is there twice. Read strictly: broken escapes are refused. */
function fieldOf(form: string): unknown {
  const found: string[] = [];
  for (const pair of form.split('&')) {
    const at = pair.indexOf('=');
    const name = at === -1 ? pair : pair.slice(0, at);
    if (unescaped(name) === 'message') found.push(at === -1 ? '' : unescaped(pair.slice(at + 1)));
  }
  return found.length > 1 ? found : found[0];
}

function unescaped(encoded: string): string {
  if (!encoded.includes('%') && !encoded.includes('+')) return encoded;
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    throw fail('malformed_form', { problem: 'broken percent-encoding, or not UTF-8' });
  }
}

async function multipartField(contentType: string, body: Uint8Array): Promise<unknown> {
  let form: FormData;
  try {
    const copy = new Uint8Array(body);
    form = await new Response(copy, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw fail('malformed_form', { problem: 'the parts cannot be told apart' });
  }
  const found: unknown[] = [];
  for (const entry of form.getAll('message')) {
    found.push(typeof entry === 'string' ? entry : decode(await entry.bytes(), 'utf-8'));
  }
  return found.length > 1 ? found : found[0];
}

function parseType(header: string | undefined): { type: string; charset: string } {
  if (header === undefined || !header.includes(';'))
    return { type: header?.trim().toLowerCase() ?? '', charset: 'utf-8' };
  const [type = '', ...parameters] = header.split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^";\s]+)"?\s*$/i.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return { type: type.trim().toLowerCase(), charset: charset ?? 'utf-8' };
}

function decode(bytes: Uint8Array, charset: string): string {
  // Nearly every message; a decoder of its own, with its care for byte order marks, is for the others.
  if (charset === 'utf-8' && bytes[0] !== 0xef && isUtf8(bytes)) return utf8Of(bytes);
  const decoder = decoderOf(charset);
  if (decoder === undefined) {
    throw fail('unsupported_content_type', {
      contentType: `with charset=${charset.slice(0, 40)}`,
      accepted: 'text in UTF-8, or in a charset that the Encoding Standard names',
    });
  }
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid(
      'The body',
      `is not valid ${charset}: send text in that charset, or bytes as application/octet-stream`,
    );
  }
}

function utf8Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function decoderOf(charset: string) {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
}

function invalid(field: string, problem: string): ServiceError {
  return fail('invalid_field', { field, problem });
}
