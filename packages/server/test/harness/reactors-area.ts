import assert from 'node:assert/strict';
import { addUser } from './beside-service.ts';
import { basic, ClientsArea, type Reply } from './clients-area.ts';
import { adminPassword, type RunningService } from './running-service.ts';
import { until } from './until.ts';

interface Sent {
  readonly json?: unknown;
  readonly form?: string;
  /** A body as it is, with its Content-Type. */
  readonly raw?: { readonly body: string; readonly type: string };
  /** Instead of /actors/v2. */
  readonly area?: string;
}

type Json = ReturnType<typeof JSON.parse>;

/** The reactors area of a running service, as one caller sees it. */
export class ReactorsCaller {
  readonly #service: Pick<RunningService, 'url'>;
  readonly token: string;

  constructor(service: Pick<RunningService, 'url'>, token: string) {
    this.#service = service;
    this.token = token;
  }

  /** The same caller at a service that was started again. */
  at(service: Pick<RunningService, 'url'>): ReactorsCaller {
    return new ReactorsCaller(service, this.token);
  }

  /** `path` begins after /actors/v2. */
  async call(method: string, path: string, sent: Sent = {}): Promise<Reply> {
    const { body, type } = encode(sent);
    const reply = await fetch(`${this.#service.url}${sent.area ?? '/actors/v2'}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token !== '' && { authorization: `Bearer ${this.token}` }),
        ...(type !== undefined && { 'content-type': type }),
      },
      ...(body !== undefined && { body }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, json: () => JSON.parse(text) };
  }

  /** Registers a reactor that must be accepted. */
  async register(json: Readonly<Record<string, unknown>>): Promise<Json> {
    const reply = await this.call('POST', '', { json });
    assert.equal(reply.status, 201, reply.text);
    return reply.json().result;
  }

  async show(id: string): Promise<Json> {
    const reply = await this.call('GET', `/${id}`);
    assert.equal(reply.status, 200, reply.text);
    return reply.json().result;
  }

  /** Waits until the reactor's image is there or cannot be had. */
  pulled(id: string): Promise<Json> {
    return until(`reactor ${id} to be READY or in ERROR`, async () => {
      const record = await this.show(id);
      return record.status === 'SUBMITTED' ? undefined : record;
    });
  }
}

/** A caller with a token of the password flow. Makes the user, unless it is the admin. */
export async function reactorsCaller(
  service: RunningService,
  username = 'admin',
  grants: readonly string[] = ['reactors'],
): Promise<ReactorsCaller> {
  const password = username === 'admin' ? adminPassword : `${username} ${adminPassword}`;
  if (username !== 'admin') await addUser(service, { username, password, grants });
  const clients = new ClientsArea(service, basic(username, password));
  const client = await clients.create('tests');
  const reply = await fetch(`${service.url}/token`, {
    method: 'POST',
    headers: {
      authorization: basic(client.key, client.secret),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({
      grant_type: 'password',
      username,
      password,
      scope: 'PRODUCTION',
    }).toString(),
  });
  const text = await reply.text();
  assert.equal(reply.status, 200, text);
  return new ReactorsCaller(service, JSON.parse(text).access_token);
}

function encode({ json, form, raw }: Sent): { body?: string; type?: string } {
  if (raw !== undefined) return raw;
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' };
  return form === undefined ? {} : { body: form, type: 'application/x-www-form-urlencoded' };
}
