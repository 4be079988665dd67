import assert from 'node:assert/strict';
import { basic, ClientsArea, type Reply } from './clients-area.ts';
import { adminPassword, type RunningService } from './running-service.ts';

export const password = 'a password of ada';

/** The profiles area of a running service, as one person with a token sees it. */
export class ProfilesArea {
  readonly service: RunningService;
  readonly token: string;
  readonly refreshToken: string;

  constructor(service: RunningService, token: string, refreshToken = '') {
    this.service = service;
    this.token = token;
    this.refreshToken = refreshToken;
  }

  /** Logs in with the password flow, through a client that was registered for this. */
  static async logIn(service: RunningService, username = 'admin', secret = adminPassword) {
    made += 1;
    const area = new ClientsArea(service, basic(username, secret));
    const client = await area.create(`profiles-${made}`);
    const reply = await fetch(`${service.url}/token`, {
      method: 'POST',
      headers: { authorization: basic(client.key, client.secret) },
      body: new URLSearchParams({
        grant_type: 'password',
        username,
        password: secret,
        scope: 'PRODUCTION',
      }),
    });
    const tokens = JSON.parse(await reply.text());
    assert.equal(reply.status, 200, JSON.stringify(tokens));
    return new ProfilesArea(service, tokens.access_token, tokens.refresh_token);
  }

  /** `path` begins after /profiles/v2. A body is sent as JSON, URLSearchParams as a form. */
  async call(method: string, path: string, body?: unknown): Promise<Reply> {
    const form = body instanceof URLSearchParams;
    const reply = await fetch(`${this.service.url}/profiles/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body !== undefined && !form && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, json: () => JSON.parse(text) };
  }

  /** A user that must be made. */
  async make(username: string, fields: Readonly<Record<string, unknown>> = {}) {
    const reply = await this.call('POST', '', { username, password, ...fields });
    assert.equal(reply.status, 201, reply.text);
    return reply.json();
  }
}

let made = 0;
