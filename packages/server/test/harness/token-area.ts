import assert from 'node:assert/strict';
import { AuthorizationCodes } from '../../src/oauth/codes.ts';
import { DeviceCodes } from '../../src/oauth/device-codes.ts';
import { besideService } from './beside-service.ts';
import { basic, ClientsArea, type Reply } from './clients-area.ts';
import type { RunningService } from './running-service.ts';

export interface TestClient {
  readonly key: string;
  readonly secret: string;
  readonly name: string;
}

export type Form = Readonly<Record<string, string>>;

interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly query?: string;
}

const callback = 'https://app.example.org/cb';

/** The OAuth endpoints of a running service, as one client sees them. */
export class TokenArea {
  readonly service: RunningService;
  readonly client: TestClient;

  constructor(service: RunningService, client: TestClient) {
    this.service = service;
    this.client = client;
  }

  /** With a client of the admin's that was registered for this. */
  static async open(
    service: RunningService,
    fields: Readonly<Record<string, unknown>> = {},
    owner?: { readonly username: string; readonly password: string },
  ): Promise<TokenArea> {
    const area = new ClientsArea(
      service,
      ...(owner === undefined ? [] : [basic(owner.username, owner.password)]),
    );
    made += 1;
    const client = await area.create(`client-${made}`, { callbackUrl: callback, ...fields });
    return new TokenArea(service, client);
  }

  get basic(): string {
    return basic(this.client.key, this.client.secret);
  }

  /** A form to an endpoint, with the client's HTTP Basic unless other headers are given. */
  async post(path: string, form: Form, sending: Sending = {}): Promise<Reply> {
    return this.send(path, {
      body: new URLSearchParams(form).toString(),
      ...sending,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(sending.headers ?? { authorization: this.basic }),
      },
    });
  }

  token(form: Form, sending: Sending = {}): Promise<Reply> {
    return this.post('/token', form, sending);
  }

  async send(
    path: string,
    { headers, method = 'POST', body, query = '' }: Sending,
  ): Promise<Reply> {
    const reply = await fetch(`${this.service.url}${path}${query}`, {
      method,
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { body }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, json: () => JSON.parse(text) };
  }

  /** Tokens that must be granted. */
  async granted(form: Form) {
    const reply = await this.token(form);
    assert.equal(reply.status, 200, reply.text);
    return reply.json();
  }

  async accessToken(): Promise<string> {
    return (await this.granted({ grant_type: 'client_credentials' })).access_token;
  }

  /** A code as the consent page would issue it. */
  async code(wanted: { codeChallenge?: string; redirectUri?: string; username?: string } = {}) {
    return besideService(this.service, async (store, changes) => {
      const { id, owner_id } = await store.read
        .selectFrom('clients')
        .select(['id', 'owner_id'])
        .where('key', '=', this.client.key)
        .executeTakeFirstOrThrow();
      return new AuthorizationCodes(store, changes).issue({
        client: { id },
        userId: owner_id,
        redirectUri: wanted.redirectUri ?? callback,
        scope: 'PRODUCTION',
        codeChallenge: wanted.codeChallenge ?? null,
      });
    });
  }

  exchange(code: string, more: Form = {}): Promise<Reply> {
    return this.token({ grant_type: 'authorization_code', code, redirect_uri: callback, ...more });
  }

  /** What a person does at the device page. */
  decideDevice(userCode: string, approved: boolean): Promise<boolean> {
    return besideService(this.service, async (store) => {
      const { owner_id } = await store.read
        .selectFrom('clients')
        .select('owner_id')
        .where('key', '=', this.client.key)
        .executeTakeFirstOrThrow();
      return new DeviceCodes(store).decide(userCode, owner_id, approved);
    });
  }

  /** A call with the token, at an operation that every user may use. */
  async me(accessToken: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.send('/profiles/v2/me', {
      method: 'GET',
      headers: { authorization: `Bearer ${accessToken}`, ...headers },
    });
  }
}

let made = 0;

/** A refusal by RFC 6749 5.2: JSON, uncached, a description within its characters. */
export function assertRefused(reply: Reply, status: number, error: string): void {
  assert.equal(reply.status, status, reply.text);
  const body = reply.json();
  assert.equal(body.error, error, reply.text);
  assert.match(body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
  assertUncached(reply);
  assert.equal(reply.headers.has('www-authenticate'), status === 401);
}

export function assertUncached(reply: Reply): void {
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  assert.equal(reply.headers.get('pragma'), 'no-cache');
}
