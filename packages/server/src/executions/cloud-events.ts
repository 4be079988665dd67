import { fail, type ServiceError } from '../errors.ts';
import { longestVariable } from '../reactors/variable-names.ts';
import { type Message, parseJson } from './message.ts';

/** CloudEvents 1.0: https://github.com/cloudevents/spec, over HTTP in its three modes. */

export const eventType = 'application/cloudevents+json';
export const eventBatchType = 'application/cloudevents-batch+json';

/** An event as a message: its data, and its attributes as variables. */
export interface EventMessage {
  readonly message: Message;
  readonly environment: Readonly<Record<string, string>>;
}

const required = ['id', 'source', 'specversion', 'type'] as const;
const names = /^[a-z0-9]{1,64}$/;
const mostAttributes = 64;
const longestAttribute = 8 * 1024;
const headerPrefix = 'ce-';
/** Attributes of the event are variables of the execution under these names; no query can set them. */
const variablePrefix = '_svc_ce_';

type Attributes = ReadonlyMap<string, string>;

/** Binary mode: the attributes are headers, the body is the data. */
export function isBinaryEvent(headers: Readonly<Record<string, unknown>>): boolean {
  return headers['ce-specversion'] !== undefined || headers['ce-id'] !== undefined;
}

export function readBinaryEvent(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: Uint8Array,
): EventMessage {
  const attributes = new Map<string, string>();
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith(headerPrefix)) continue;
    const name = header.slice(headerPrefix.length);
    if (name === 'datacontenttype')
      throw invalid(header, 'is not a header of this mode: it is the Content-Type');
    if (typeof value !== 'string') throw invalid(header, 'is given more than once');
    attributes.set(name, unescaped(header, value));
  }
  const contentType = headers['content-type'];
  if (typeof contentType === 'string') attributes.set('datacontenttype', contentType);
  check(attributes, (name) => `${headerPrefix}${name}`);
  return { message: dataMessage(body, attributes), environment: variablesOf(attributes) };
}

/** Structured mode: all of it is one JSON document. */
export function readEvent(body: Uint8Array): EventMessage {
  return eventFrom(parse(body), '');
}

export function readEventBatch(body: Uint8Array, most: number): readonly EventMessage[] {
  const events = parse(body);
  if (!Array.isArray(events)) throw invalid('The body', 'takes a list of events');
  if (events.length === 0) throw invalid('The body', 'has no events: send at least one');
  if (events.length > most)
    throw invalid('The body', `has more than ${most} events: send them in several batches`);
  return events.map((event, at) => eventFrom(event, `event ${at + 1}: `));
}

function eventFrom(given: unknown, where: string): EventMessage {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid('The body', `${where}takes a CloudEvent as a JSON object`);
  const { data, data_base64: encoded, ...rest }: Record<string, unknown> = { ...given };
  const attributes = new Map<string, string>();
  for (const [name, value] of Object.entries(rest)) {
    if (value === null) continue;
    const isInteger = typeof value === 'number' && Number.isInteger(value);
    if (typeof value !== 'string' && typeof value !== 'boolean' && !isInteger)
      throw invalid(
        `${where}${name.slice(0, 64)}`,
        'takes a text, a whole number or true or false',
      );
    attributes.set(name, String(value));
  }
  check(attributes, (name) => `${where}${name}`);
  if (data !== undefined && encoded !== undefined)
    throw invalid(`${where}data_base64`, 'cannot go with data');
  const environment = variablesOf(attributes);
  if (encoded !== undefined) {
    if (
      typeof encoded !== 'string' ||
      !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) ||
      encoded.length % 4
    )
      throw invalid(`${where}data_base64`, 'takes bytes in base64');
    return { message: dataMessage(Buffer.from(encoded, 'base64'), attributes), environment };
  }
  return { message: jsonMessage(data, attributes), environment };
}

/** Data that stands in the document itself. Text of a type that is not JSON is that text. */
function jsonMessage(data: unknown, attributes: Attributes): Message {
  if (data === undefined) return textMessage('');
  const type = mediaTypeOf(attributes);
  if (typeof data === 'string' && type !== '' && !isJson(type)) return textMessage(data);
  return { contentType: 'application/json', body: Buffer.from(JSON.stringify(data)), shown: data };
}

/** Data that came as bytes: JSON and text as what they are, everything else as bytes. */
function dataMessage(bytes: Uint8Array, attributes: Attributes): Message {
  if (bytes.byteLength === 0) return textMessage('');
  const type = mediaTypeOf(attributes);
  if (isJson(type)) {
    const text = decoded(bytes);
    return { contentType: 'application/json', body: bytes, shown: parseJson(text) };
  }
  if (type.startsWith('text/')) return textMessage(decoded(bytes));
  return { contentType: 'application/octet-stream', body: bytes, shown: 'binary - omitted' };
}

const textMessage = (text: string): Message => ({
  contentType: 'str',
  body: Buffer.from(text),
  shown: text,
});

const isJson = (type: string): boolean => type === 'application/json' || type.endsWith('+json');

const mediaTypeOf = (attributes: Attributes): string =>
  (attributes.get('datacontenttype') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

function check(attributes: Attributes, fieldOf: (name: string) => string): void {
  for (const name of required) {
    if ((attributes.get(name) ?? '') === '')
      throw invalid(fieldOf(name), 'is required of a CloudEvent, and not empty');
  }
  const version = attributes.get('specversion');
  if (version !== '1.0') throw invalid(fieldOf('specversion'), 'takes 1.0');
  if (attributes.size > mostAttributes)
    throw invalid(fieldOf('id'), `stands beside more than ${mostAttributes} attributes`);
  for (const [name, value] of attributes) {
    if (!names.test(name))
      throw invalid(
        fieldOf(name.slice(0, 64).toWellFormed()),
        'is not the name of an attribute: 1 to 64 lower-case letters and digits',
      );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what the specification refuses.
    if (/[\u0000-\u001f\u007f-\u009f]/.test(value) || !value.isWellFormed())
      throw invalid(fieldOf(name), 'has a control character or half a character');
    if (Buffer.byteLength(value) > Math.min(longestAttribute, longestVariable))
      throw invalid(fieldOf(name), `is longer than ${longestAttribute} bytes`);
  }
  const time = attributes.get('time');
  if (
    time !== undefined &&
    !/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(time)
  )
    throw invalid(fieldOf('time'), 'takes a time such as 2026-01-31T12:00:00Z');
}

function variablesOf(attributes: Attributes): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...attributes].map(([name, value]) => [`${variablePrefix}${name}`, value]),
  );
}

function parse(body: Uint8Array): unknown {
  if (body.byteLength === 0) throw invalid('The body', 'is empty: send an event');
  return parseJson(decoded(body));
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('The body', 'is not valid UTF-8');
  }
}

/** Headers carry text outside of ASCII as percent-encoded UTF-8. */
function unescaped(header: string, value: string): string {
  try {
    return decodeURIComponent(value.replace(/%(?![0-9A-Fa-f]{2})/g, '%25'));
  } catch {
    throw invalid(header, 'is not percent-encoded UTF-8');
  }
}

const invalid = (field: string, problem: string): ServiceError =>
  fail('invalid_field', { field, problem });
