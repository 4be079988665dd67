import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { openScene, type Scene, type Sender, senderFor } from '../harness/execution-scene.ts';
import { adminPassword, type RunningService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';
import type { CallerKind } from './request-arbitrary.ts';

/** Something that is there, and the reactor or alias to which it belongs. */
export interface Thing {
  readonly value: string;
  readonly of?: string;
}

const most = 40;

/** What requests can name, by kind. Grows and shrinks with what they do. */
class Things {
  readonly #byKind = new Map<string, Thing[]>();
  #fresh = 0;

  add(kind: string, value: unknown, of?: string): void {
    if (typeof value !== 'string' || value === '') return;
    const kept = this.#byKind.get(kind) ?? [];
    kept.push({ value, ...(of !== undefined && { of }) });
    if (kept.length > most) kept.shift();
    this.#byKind.set(kind, kept);
  }

  remove(kind: string, value: string): void {
    const kept = this.#byKind.get(kind) ?? [];
    this.#byKind.set(
      kind,
      kept.filter((thing) => thing.value !== value && thing.of !== value),
    );
  }

  at(kind: string, place: number): Thing {
    if (kind === 'fresh') return { value: `fresh${++this.#fresh}` };
    // So that it is known wherever it should not be.
    if (kind === 'hush') return { value: hush() };
    const kept = this.#byKind.get(kind) ?? [];
    return kept[place % Math.max(1, kept.length)] ?? { value: `made-up-${kind}` };
  }

  all(kind: string): readonly Thing[] {
    return [...(this.#byKind.get(kind) ?? [])];
  }

  count(kind: string): number {
    return this.#byKind.get(kind)?.length ?? 0;
  }
}

/** A secret of ours, known wherever it turns up. */
const hush = (): string => `hush-${randomBytes(8).toString('hex')}`;
export const hushed = /hush-[0-9a-f]{16}/g;

export interface FuzzScene {
  readonly service: RunningService;
  readonly things: Things;
  readonly headersOf: (kind: CallerKind, place: number) => Record<string, string>;
  /** Makes again what the requests have used up. */
  topUp(): Promise<void>;
  /** The passing user is gone or locked out: another one comes. */
  anotherPassing(): Promise<void>;
  dispose(): Promise<void>;
}

/** A service with something of every kind, and callers of every kind. */
export async function openFuzzScene(): Promise<FuzzScene> {
  const scene = await openScene({
    environment: {
      REACTORD_LOG_LEVEL: 'trace',
      REACTORD_LOG_FORMAT: 'json',
      // Wrong passwords come from an address of their own each, so that the right ones are heard.
      REACTORD_TRUST_PROXY: '127.0.0.1',
    },
  });
  try {
    return await fill(scene);
  } catch (error) {
    await scene.dispose();
    throw error;
  }
}

async function fill(scene: Scene): Promise<FuzzScene> {
  const { service, admin } = scene;
  const things = new Things();
  const [owner, other] = [await scene.user('owner'), await scene.user('other')];
  const ownerPassword = `owner ${adminPassword}`;
  things.add('image', scene.image.reference);

  const call = async (sender: Sender, method: string, path: string, body?: unknown) => {
    const reply = await sender.call(method, path, {
      ...(body !== undefined && { body: JSON.stringify(body), type: 'application/json' }),
    });
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`);
    return reply.json().result;
  };

  let users = 0;
  let passing = '';
  const anotherPassing = async () => {
    users += 1;
    const username = `passing${users}`;
    const password = hush();
    const made = await admin.call('POST', '', {
      area: '/profiles/v2',
      body: JSON.stringify({ username, password, grants: ['reactors'] }),
      type: 'application/json',
    });
    assert.equal(made.status, 201, made.text);
    passing = (await senderFor(service, username, password)).token;
    things.add('username', username);
    things.add('password', password);
  };

  const client = await new ClientsArea(service, basic('owner', ownerPassword)).create(
    `kept-${randomBytes(6).toString('hex')}`,
  );

  const newReactor = async (sender: Sender) => {
    const { id } = await call(sender, 'POST', '', {
      image: '127.0.0.1:1/tool',
      stateless: things.count('reactor') % 2 === 0,
      default_environment: { GREETING: 'hello' },
    });
    things.add('reactor', id);
    return id;
  };
  /** A reactor that was deleted took more with it than its own name. */
  const forgetWhatIsGone = async () => {
    for (const kind of ['reactor', 'alias'])
      for (const { value } of things.all(kind)) {
        const reply = await admin.call('GET', `/${encodeURIComponent(value)}`);
        if (reply.status !== 200)
          for (const each of ['reactor', 'alias', 'nonce', 'worker', 'execution', 'delivery'])
            things.remove(each, value);
      }
  };
  let asked = 0;
  const topUp = async () => {
    asked += 1;
    if (asked % 100 === 0) await forgetWhatIsGone();
    while (things.count('reactor') < 6 || things.count('alias') < 3) {
      const id = await newReactor(owner);
      const alias = `alias-${id.toLowerCase()}`;
      await call(owner, 'POST', '/aliases', { alias, actor_id: id });
      things.add('alias', alias);
      things.add('execution', await owner.send(id), id);
    }
    if (things.count('nonce') < 2) {
      const id = things.at('reactor', 0).value;
      const reply = await admin.call('POST', `/${id}/nonces`, {
        body: JSON.stringify({ level: 'READ' }),
        type: 'application/json',
      });
      if (reply.status === 201) things.add('nonce', reply.json().result.id, id);
    }
  };

  await anotherPassing();
  for (let count = 0; count < 3; count += 1) await newReactor(owner);
  await newReactor(other);
  await newReactor(admin);
  const runs = await owner.register({
    image: scene.image.reference,
    default_environment: { RUN: 'echo hello; echo "$_svc_access_token"; exit 3' },
    retries: 0,
    webhook: 'https://hook.example.invalid/',
  });
  things.add('reactor', runs);
  things.add('alias', 'runs');
  await call(owner, 'POST', '/aliases', { alias: 'runs', actor_id: runs });
  await call(owner, 'POST', `/${runs}/permissions`, { user: 'other', level: 'READ' });
  await call(owner, 'POST', `/${runs}/permissions`, { user: 'WORLD', level: 'READ' });
  for (const level of ['READ', 'EXECUTE', 'UPDATE'])
    things.add('nonce', (await call(owner, 'POST', `/${runs}/nonces`, { level })).id, runs);
  const aliasNonce = await call(owner, 'POST', '/aliases/runs/nonces', { level: 'READ' });
  things.add('nonce', aliasNonce.id, 'runs');
  await call(owner, 'POST', '/configs', {
    name: 'KEPT_SECRET',
    value: hush(),
    is_secret: true,
    actors: runs,
  });
  things.add('config', 'KEPT_SECRET');
  for (let count = 0; count < 2; count += 1) {
    const { id } = await owner.runOnce(runs);
    things.add('execution', id, runs);
  }
  for (const worker of await call(owner, 'GET', `/${runs}/workers`))
    things.add('worker', worker.id, runs);
  const delivery = await until(
    'a delivery',
    async () => (await call(owner, 'GET', `/${runs}/deliveries`))[0],
  );
  things.add('delivery', String(delivery.id), runs);
  await topUp();

  const headersOf = (kind: CallerKind, place: number): Record<string, string> => {
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    switch (kind) {
      case 'admin':
        return bearer(admin.token);
      case 'owner':
        return bearer(owner.token);
      case 'other':
        return bearer(other.token);
      case 'passing':
        return bearer(passing);
      case 'password':
        return { authorization: basic('owner', place % 8 === 0 ? hush() : ownerPassword) };
      case 'client':
        return { authorization: basic(client.key, client.secret) };
      case 'garbage':
        return { authorization: garbage[place % garbage.length] ?? '' };
      case 'nonce':
      case 'nobody':
        return {};
    }
  };
  return { service, things, headersOf, topUp, anotherPassing, dispose: scene.dispose };
}

const garbage = [
  'Bearer',
  'Bearer x',
  `Bearer rct_at_${'x'.repeat(49)}`,
  'Basic =',
  'Basic Og==',
  'Negotiate abc',
  'Bearer a b',
];
