import assert from 'node:assert/strict';
import { addUser } from './beside-service.ts';
import { basic, ClientsArea, type Reply } from './clients-area.ts';
import { makeRunImage, type RunImage } from './run-image.ts';
import {
  adminPassword,
  type RunningService,
  type ServiceOptions,
  startService,
} from './running-service.ts';
import { until } from './until.ts';

type Json = ReturnType<typeof JSON.parse>;

export interface Posted {
  readonly body?: string | Uint8Array<ArrayBuffer> | FormData;
  readonly type?: string;
  /** With its `?`. */
  readonly query?: string;
  readonly area?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A user with a token, and what they do in the reactors area. */
export class Sender {
  /** The service may be started again, at another address. */
  service: Pick<RunningService, 'url'>;
  readonly token: string;

  constructor(service: Pick<RunningService, 'url'>, token: string) {
    this.service = service;
    this.token = token;
  }

  async call(method: string, path: string, posted: Posted = {}): Promise<Reply> {
    const { body, type, query = '', area = '/actors/v2', headers = {} } = posted;
    const reply = await fetch(`${this.service.url}${area}${path}${query}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(type !== undefined && { 'content-type': type }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, json: () => JSON.parse(text) };
  }

  /** A reactor that runs the shell program, ready for messages. */
  async register(fields: Readonly<Record<string, unknown>>): Promise<string> {
    const id = await this.registerOnly(fields);
    await until(`reactor ${id} to be READY`, async () => {
      const { status, statusMessage } = (await this.call('GET', `/${id}`)).json().result;
      if (status === 'ERROR') throw new Error(statusMessage);
      return status === 'READY';
    });
    return id;
  }

  async registerOnly(fields: Readonly<Record<string, unknown>>): Promise<string> {
    const reply = await this.call('POST', '', {
      body: JSON.stringify(fields),
      type: 'application/json',
    });
    assert.equal(reply.status, 201, reply.text);
    return reply.json().result.id;
  }

  /** Posts a raw string that must be accepted. Resolves with the execution's id. */
  async send(reactorId: string, message = 'hello', posted: Posted = {}): Promise<string> {
    const reply = await this.post(reactorId, {
      body: new URLSearchParams({ message }).toString(),
      type: 'application/x-www-form-urlencoded',
      ...posted,
    });
    assert.equal(reply.status, 201, reply.text);
    return reply.json().result.executionId;
  }

  post(reactorId: string, posted: Posted): Promise<Reply> {
    return this.call('POST', `/${reactorId}/messages`, posted);
  }

  async record(reactorId: string, executionId: string): Promise<Json> {
    const reply = await this.call('GET', `/${reactorId}/executions/${executionId}`);
    assert.equal(reply.status, 200, reply.text);
    return reply.json().result;
  }

  async log(reactorId: string, executionId: string): Promise<string> {
    const reply = await this.call('GET', `/${reactorId}/executions/${executionId}/logs`);
    assert.equal(reply.status, 200, reply.text);
    return reply.json().result.logs;
  }

  /** The record once it says COMPLETE or ERROR. */
  ended(reactorId: string, executionId: string, limitMs = 60_000): Promise<Json> {
    return until(
      `execution ${executionId} to end`,
      async () => {
        const record = await this.record(reactorId, executionId);
        return record.status === 'COMPLETE' || record.status === 'ERROR' ? record : undefined;
      },
      limitMs,
    );
  }

  running(reactorId: string, executionId: string): Promise<Json> {
    return until(`execution ${executionId} to run`, async () => {
      const record = await this.record(reactorId, executionId);
      assert.notEqual(record.status, 'ERROR', record.statusMessage);
      return record.status === 'SUBMITTED' ? undefined : record;
    });
  }

  /** Posts a message, waits for its end, and reads its log. */
  async runOnce(
    reactorId: string,
    message = 'hello',
    posted: Posted = {},
  ): Promise<{ record: Json; log: string; id: string }> {
    const id = await this.send(reactorId, message, posted);
    const record = await this.ended(reactorId, id);
    return { id, record, log: await this.log(reactorId, id) };
  }
}

export interface Scene {
  service: RunningService;
  readonly image: RunImage;
  readonly admin: Sender;
  /** A user with the grant for the area. */
  user(name: string): Promise<Sender>;
  /** Kills the service, or waits for its end, and starts another on its folder. */
  restart(signal: NodeJS.Signals, options?: ServiceOptions): Promise<void>;
  dispose(): Promise<void>;
}

/** A running service, an image, and its admin with a token. */
export async function openScene(options: ServiceOptions = {}): Promise<Scene> {
  const image = await makeRunImage();
  const quiet = { REACTORD_PULL_POLICY: 'missing', ...options.environment };
  const settings = { ...options, environment: quiet };
  let service = await startService(settings);
  const admin = await senderFor(service, 'admin', adminPassword);
  const senders = [admin];
  return {
    get service() {
      return service;
    },
    image,
    admin,
    user: async (name) => {
      const password = `${name} ${adminPassword}`;
      await addUser(service, { username: name, password, grants: ['reactors'] });
      const sender = await senderFor(service, name, password);
      senders.push(sender);
      return sender;
    },
    restart: async (signal, changed = {}) => {
      const { data } = service;
      service.signal(signal);
      await service.ended;
      service = await startService({ ...settings, ...changed, data });
      for (const sender of senders) sender.service = service;
    },
    dispose: async () => {
      await service.dispose();
      await image.remove();
    },
  };
}

/** A user who is there already, with a token. */
export async function senderFor(
  service: RunningService,
  username: string,
  password: string,
): Promise<Sender> {
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
  return new Sender(service, JSON.parse(await reply.text()).access_token);
}
