import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { type Operation, readDescription } from './api-description.ts';
import { type FuzzScene, openFuzzScene, type Thing } from './fuzz-scene.ts';
import { oddRequestsTo } from './odd-texts.ts';
import { checkLog, checkReply, type Seen } from './reply-checks.ts';
import { type Planned, requestsOf } from './request-arbitrary.ts';

/**
 * Sends requests that are made from the service's own description: right ones, nearly right ones and hostile ones, to
 * every operation. The same ones each time, as far as what is there allows it: a change is not to blame for what
 * another seed would have found. `FUZZ_SEED=…` looks elsewhere.
 */
export function fuzzWholeApi(count: number, limitMs: number): void {
  describe(`${count} requests to every operation there is`, () => {
    let scene: FuzzScene;
    let operations: readonly Operation[];
    const statuses = new Map<string, number[]>();
    before(async () => {
      scene = await openFuzzScene();
      operations = await readDescription(scene.service.url);
    });
    after(() => scene?.dispose());

    const { FUZZ_SEED } = process.env;
    const seed = Number(FUZZ_SEED ?? 20_260_131);
    const send = async (planned: Planned): Promise<void> => {
      const { name } = planned.operation;
      const status = await exchange(scene, planned);
      statuses.set(name, [...(statuses.get(name) ?? []), status]);
    };

    test('a text that a database cannot keep makes none fail, in whatever field it comes', async () => {
      for (const operation of operations)
        for (const planned of oddRequestsTo(operation, seed)) await send(planned);
    });

    test('none fails inside, tells a secret, or is answered in another shape than described', async (t) => {
      t.diagnostic(`FUZZ_SEED=${seed}`);
      assert.ok(operations.length > 90, 'the description is there');
      await fc.assert(
        fc.asyncProperty(requestsOf(operations), send),
        // The limit is for making a failure smaller, which may take long.
        { numRuns: count, seed, interruptAfterTimeLimit: limitMs, markInterruptAsFailure: true },
      );
    });

    test('every operation was met, and most of them did what they are for', (t) => {
      const missed = operations.filter(({ name }) => !statuses.has(name));
      assert.deepEqual(
        missed.map(({ name }) => name),
        [],
      );
      const idle = [...statuses].filter(([, seen]) => !seen.some((s) => s >= 200 && s < 400));
      t.diagnostic(`never with success: ${idle.map(([name]) => name).join(', ') || 'none'}`);
      assert.ok(idle.length < operations.length / 3, `${idle.length} had no success`);
    });

    test('the service is as well as before, and its log tells no secret', async () => {
      assert.equal((await fetch(`${scene.service.url}/health`)).status, 200);
      const written = scene.service.output() + scene.service.errors();
      checkLog(written);
      for (const key of keysIn(scene.service.data)) assert.ok(!written.includes(key), 'a key');
    });
  });
}

async function exchange(scene: FuzzScene, planned: Planned): Promise<number> {
  await scene.topUp();
  const request = resolve(scene, planned);
  const { url, init, held } = request;
  let reply: Response;
  try {
    reply = await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(held ? 150 : 15_000),
    });
  } catch (error) {
    // A reply that is held until an execution ends: the caller has left.
    if (held && error instanceof Error && error.name === 'TimeoutError') return 0;
    throw error;
  }
  const text = await readSome(reply);
  const { status, headers } = reply;
  const seen: Seen = { ...request, operation: planned.operation, status, headers, text };
  try {
    checkReply(seen);
  } catch (error) {
    if (error instanceof Error)
      error.message += `\n${init.method} ${url} ${String(init.body ?? '').slice(0, 1000)}\n${status} ${text.slice(0, 1500)}`;
    throw error;
  }
  learn(scene, request, seen);
  if (status === 401 && planned.caller === 'passing') await scene.anotherPassing();
  return status;
}

/** Streams do not end: a moment of them is enough. */
async function readSome(reply: Response): Promise<string> {
  if (!(reply.headers.get('content-type') ?? '').startsWith('text/event-stream'))
    return reply.text();
  const reader = reply.body?.getReader();
  const first = await Promise.race([reader?.read(), setTimeout(20)]);
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}

interface Resolved {
  readonly url: string;
  readonly init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string | Uint8Array<ArrayBuffer>;
  };
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly sent: string;
  readonly isOperation: boolean;
  readonly held: boolean;
}

const placeholder = /‹(\w+):(\d+)›/g;

function resolve({ things, headersOf, service }: FuzzScene, planned: Planned): Resolved {
  const { operation, body } = planned;
  const met: Thing[] = [];
  const text = (given: string): string =>
    given.toWellFormed().replaceAll(placeholder, (_, kind: string, place: string) => {
      const thing = things.at(kind, Number(place));
      met.push(thing);
      return thing.value;
    });
  const deep = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map(deep);
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(
      Object.entries(given).map(([name, value]) => [text(name), deep(value)]),
    );
  };
  const path = Object.fromEntries(
    Object.entries(planned.path).map(([name, value]) => [name, text(value)]),
  );
  // What belongs to a reactor is asked for there, unless the reactor of the path is made up.
  const of = met.find((thing) => thing.of !== undefined)?.of;
  for (const name of ['reactorId', 'alias'])
    if (of !== undefined && planned.path[name]?.startsWith('‹')) path[name] = of;
  const query = planned.query.map(([name, value]): [string, string] => [text(name), text(value)]);
  const nonces = planned.caller === 'nonce' && path['reactorId'] !== undefined;
  if (nonces) query.push(['x-nonce', things.at('nonce', query.length).value]);
  const encoded = body === undefined ? undefined : encode(body.type, body, deep);
  const address = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name] ?? '';
    return value.startsWith('%') ? value : encodeURIComponent(value);
  });
  const search = query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  const place = query.length + operation.name.length + met.length;
  // The run goes on with its users: only one who can be spared changes themselves.
  const ownProfile = operation.path === '/profiles/v2/me' && operation.method === 'PUT';
  return {
    url: `${service.url}${address}${search === '' ? '' : `?${search}`}`,
    init: {
      method: operation.method,
      headers: {
        'x-forwarded-for': `10.0.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`,
        ...headersOf(ownProfile ? 'passing' : planned.caller, place),
        ...planned.headers,
        ...(body !== undefined && { 'content-type': body.type }),
      },
      ...(encoded !== undefined && { body: encoded }),
    },
    path,
    query,
    sent: `${address}?${search}\n${typeof encoded === 'string' ? encoded : ''}\n${JSON.stringify(query)}`,
    isOperation: Object.values(path).every((value) => value !== '' && !/^[.%/]/.test(value)),
    held: query.some(([name]) => name === 'wait' || name === '_svc_synchronous'),
  };
}

function encode(
  type: string,
  body: NonNullable<Planned['body']>,
  deep: (value: unknown) => unknown,
): string | Uint8Array<ArrayBuffer> {
  if ('bytes' in body) return new Uint8Array(body.bytes);
  const value = deep(body.value);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type !== 'application/x-www-form-urlencoded' || !isObject)
    return typeof value === 'string' && !type.includes('json')
      ? value
      : (JSON.stringify(value) ?? '');
  const form = new URLSearchParams();
  for (const [name, values] of Object.entries(value))
    for (const each of [values].flat())
      form.append(name, typeof each === 'string' ? each : (JSON.stringify(each) ?? ''));
  return form.toString();
}

/** What was made can be named from now on; what was removed, no longer. */
function learn({ things }: FuzzScene, { path, init }: Resolved, { operation, ...reply }: Seen) {
  if (reply.status >= 300 || !/json/.test(reply.headers.get('content-type') ?? '')) return;
  const body = JSON.parse(reply.text);
  const result = body?.result ?? body;
  const { reactorId, alias } = path;
  switch (operation.name) {
    case 'POST /actors/v2':
      return things.add('reactor', result.id);
    case 'DELETE /actors/v2/{reactorId}':
      for (const kind of ['reactor', 'alias', 'execution', 'nonce', 'worker', 'delivery'])
        things.remove(kind, reactorId ?? '');
      return;
    case 'POST /actors/v2/{reactorId}/messages':
      return things.add('execution', result.executionId, reactorId);
    case 'POST /actors/v2/{reactorId}/nonces':
      return things.add('nonce', result.id, reactorId);
    case 'POST /actors/v2/aliases/{alias}/nonces':
      return things.add('nonce', result.id, alias);
    case 'POST /actors/v2/{reactorId}/workers':
      return things.add('worker', result[0]?.id, reactorId);
    case 'POST /actors/v2/aliases':
      return things.add('alias', result.alias);
    case 'DELETE /actors/v2/aliases/{alias}':
      return things.remove('alias', alias ?? '');
    case 'POST /actors/v2/configs':
      return things.add('config', result.name);
    case 'DELETE /actors/v2/configs/{name}':
      return things.remove('config', path['name'] ?? '');
    case 'POST /clients/v2':
      things.add('clientName', result.name);
      things.add('clientKey', result.key);
      return things.add('clientSecret', result.secret);
    case 'DELETE /clients/v2/{clientName}':
      return things.remove('clientName', path['clientName'] ?? '');
    case 'POST /profiles/v2': {
      const fields: unknown = init.headers['content-type']?.includes('json')
        ? JSON.parse(String(init.body))
        : Object.fromEntries(new URLSearchParams(String(init.body)));
      things.add('username', result.username);
      if (typeof fields === 'object' && fields !== null && 'password' in fields)
        things.add('password', fields.password);
      return;
    }
    case 'DELETE /profiles/v2/{username}':
      return things.remove('username', path['username'] ?? '');
    case 'POST /token':
      return things.add('refreshToken', result.refresh_token);
  }
}

/** The keys with which the service signs and encrypts. */
function keysIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => /key/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8').trim())
    .filter((key) => key.length >= 16);
}
