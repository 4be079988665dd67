import assert from 'node:assert/strict';
import { adminPassword, type RunningService } from './running-service.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): ReturnType<typeof JSON.parse>;
}

interface Sent {
  readonly form?: Readonly<Record<string, string | readonly string[]>>;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** The clients area of a running service, as one caller sees it. */
export class ClientsArea {
  readonly #service: RunningService;
  readonly #authorization: string;

  constructor(service: RunningService, authorization = basic('admin', adminPassword)) {
    this.#service = service;
    this.#authorization = authorization;
  }

  /** `path` begins after /clients/v2. */
  async call(method: string, path: string, sent: Sent = {}): Promise<Reply> {
    const { body, contentType } = encode(sent);
    const reply = await fetch(`${this.#service.url}/clients/v2${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.#authorization !== '' && { authorization: this.#authorization }),
        ...(contentType !== undefined && { 'content-type': contentType }),
        ...sent.headers,
      },
      ...(body !== undefined && { body }),
    });
    const text = await reply.text();
    const json = () => JSON.parse(text);
    return { status: reply.status, headers: reply.headers, text, json };
  }

  /** Registers a client that must be accepted. */
  async create(clientName: string, fields: Readonly<Record<string, unknown>> = {}) {
    const reply = await this.call('POST', '', { json: { clientName, ...fields } });
    assert.equal(reply.status, 201, reply.text);
    return reply.json();
  }
}

function encode({ form, json }: Sent) {
  if (json !== undefined)
    return { body: JSON.stringify(json), contentType: 'application/json' } as const;
  if (form === undefined) return { body: undefined, contentType: undefined } as const;
  const fields = new URLSearchParams();
  for (const [name, values] of Object.entries(form))
    for (const value of [values].flat()) fields.append(name, value);
  return {
    body: fields.toString(),
    contentType: 'application/x-www-form-urlencoded',
  } as const;
}
