import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  type Description,
  type Operation,
  readDescription,
} from '../../../checks/api-description.ts';
import type { Operations } from '../src/generated/api.ts';
import { basic, OAuth, ReactordClient } from '../src/index.ts';

const baseUrl = 'http://reactors.example.org';

/** How each operation is called; a new one is missing here until it has a method. */
const calls: {
  readonly [Name in keyof Operations]: (client: ReactordClient, oauth: OAuth) => Promise<unknown>;
} = {
  'GET /.well-known/oauth-authorization-server': (client) => client.service.metadata(),
  'POST /token': (_client, oauth) => oauth.password('ada', 'secret'),
  'POST /revoke': (_client, oauth) => oauth.revoke('token'),
  'POST /introspect': (_client, oauth) => oauth.introspect('token'),
  'POST /device_authorization': async (_client, oauth) => {
    const left = new AbortController();
    const shown: unknown[] = [];
    const login = oauth.device({
      signal: left.signal,
      show: (code) => {
        shown.push(code);
        left.abort();
      },
    });
    await assert.rejects(login, { name: 'AbortError' });
    assert.equal(shown.length, 1);
  },
  'GET /openapi.json': (client) => client.service.description(),
  'GET /metrics': (client) => client.service.metrics(),
  'GET /health': (client) => client.service.health(),
  'GET /ready': (client) => client.service.ready(),
  'POST /clients/v2': (client) => client.clients.create({ clientName: 'app' }),
  'GET /clients/v2': (client) => client.clients.list().page(),
  'GET /clients/v2/{clientName}': (client) => client.clients.get('app'),
  'PUT /clients/v2/{clientName}': (client) => client.clients.update('app', { tier: 'Gold' }),
  'DELETE /clients/v2/{clientName}': (client) => client.clients.delete('app'),
  'POST /clients/v2/{clientName}/secret': (client) => client.clients.rotateSecret('app'),
  'GET /clients/v2/{clientName}/subscriptions': (client) => client.subscriptions.list('app'),
  'POST /clients/v2/{clientName}/subscriptions': (client) => client.subscriptions.add('app', '*'),
  'DELETE /clients/v2/{clientName}/subscriptions': (client) =>
    client.subscriptions.remove('app', ['Actors', 'Profiles']),
  'GET /profiles/v2/me': (client) => client.users.me(),
  'PUT /profiles/v2/me': (client) => client.users.updateMe({ phone: '1' }),
  'GET /profiles/v2/{username}': (client) => client.users.get('ada'),
  'PUT /profiles/v2/{username}': (client) => client.users.update('ada', { phone: '1' }),
  'DELETE /profiles/v2/{username}': (client) => client.users.delete('ada'),
  'GET /profiles/v2': (client) => client.users.list().page(),
  'POST /profiles/v2': (client) => client.users.create({ username: 'ada', password: 'secret' }),
  'POST /actors/v2': (client) => client.reactors.create({ image: 'hello:1', maxWorkers: 2 }),
  'GET /actors/v2': (client) => client.reactors.list().page(),
  'GET /actors/v2/{reactorId}': (client) => client.reactors.get('r'),
  'PUT /actors/v2/{reactorId}': (client) => client.reactors.replace('r', { image: 'hello:2' }),
  'DELETE /actors/v2/{reactorId}': (client) => client.reactors.delete('r'),
  'GET /actors/v2/{reactorId}/state': (client) => client.states.get('r'),
  'POST /actors/v2/{reactorId}/state': (client) => client.states.set('r', { seen: 1 }),
  'GET /actors/v2/configs': (client) => client.configs.list().page(),
  'POST /actors/v2/configs': (client) => client.configs.create({ name: 'A', value: 'b' }),
  'GET /actors/v2/configs/{name}': (client) => client.configs.get('A'),
  'PUT /actors/v2/configs/{name}': (client) => client.configs.update('A', { value: 'c' }),
  'DELETE /actors/v2/configs/{name}': (client) => client.configs.delete('A'),
  'GET /actors/v2/{reactorId}/permissions': (client) => client.permissions.get('r'),
  'POST /actors/v2/{reactorId}/permissions': (client) => client.permissions.set('r', 'bo', 'READ'),
  'GET /actors/v2/aliases': (client) => client.aliases.list().page(),
  'POST /actors/v2/aliases': (client) => client.aliases.create({ alias: 'a', actorId: 'r' }),
  'GET /actors/v2/aliases/{alias}': (client) => client.aliases.get('a'),
  'PUT /actors/v2/aliases/{alias}': (client) => client.aliases.move('a', 'r'),
  'DELETE /actors/v2/aliases/{alias}': (client) => client.aliases.delete('a'),
  'GET /actors/v2/aliases/{alias}/permissions': (client) => client.permissions.get({ alias: 'a' }),
  'POST /actors/v2/aliases/{alias}/permissions': (client) =>
    client.permissions.set({ alias: 'a' }, 'WORLD', 'NONE'),
  'GET /actors/v2/{reactorId}/nonces': (client) => client.nonces.list('r').page(),
  'POST /actors/v2/{reactorId}/nonces': (client) => client.nonces.create('r', { maxUses: 1 }),
  'GET /actors/v2/{reactorId}/nonces/{nonceId}': (client) => client.nonces.get('r', 'n'),
  'DELETE /actors/v2/{reactorId}/nonces/{nonceId}': (client) => client.nonces.delete('r', 'n'),
  'GET /actors/v2/aliases/{alias}/nonces': (client) => client.nonces.list({ alias: 'a' }).page(),
  'POST /actors/v2/aliases/{alias}/nonces': (client) => client.nonces.create({ alias: 'a' }),
  'GET /actors/v2/aliases/{alias}/nonces/{nonceId}': (client) =>
    client.nonces.get({ alias: 'a' }, 'n'),
  'DELETE /actors/v2/aliases/{alias}/nonces/{nonceId}': (client) =>
    client.nonces.delete({ alias: 'a' }, 'n'),
  'POST /actors/v2/{reactorId}/messages': (client) => client.reactors.send('r', { any: 'JSON' }),
  'GET /actors/v2/{reactorId}/messages': (client) => client.reactors.inbox('r', { peek: 1 }),
  'DELETE /actors/v2/{reactorId}/messages': (client) => client.reactors.purge('r'),
  'GET /actors/v2/{reactorId}/executions': (client) => client.executions.list('r').page(),
  'GET /actors/v2/{reactorId}/executions/{executionId}': (client) =>
    client.executions.get('r', 'e'),
  'DELETE /actors/v2/{reactorId}/executions/{executionId}': (client) =>
    client.executions.halt('r', 'e'),
  'GET /actors/v2/{reactorId}/executions/{executionId}/message': (client) =>
    client.executions.message('r', 'e'),
  'GET /actors/v2/{reactorId}/executions/{executionId}/logs': (client) =>
    client.executions.logs('r', 'e'),
  'GET /actors/v2/{reactorId}/executions/{executionId}/results': (client) =>
    client.results.take('r', { executionId: 'e' }),
  'POST /actors/v2/{reactorId}/executions/{executionId}/results': (client) =>
    client.results.give('r', 'e', 'result'),
  'GET /actors/v2/{reactorId}/results': (client) => client.results.peek('r'),
  'GET /actors/v2/{reactorId}/dead-letters': (client) => client.deadLetters.list('r').page(),
  'POST /actors/v2/{reactorId}/dead-letters': (client) => client.deadLetters.replayAll('r'),
  'DELETE /actors/v2/{reactorId}/dead-letters': (client) => client.deadLetters.deleteAll('r'),
  'POST /actors/v2/{reactorId}/dead-letters/{executionId}': (client) =>
    client.deadLetters.replay('r', 'e'),
  'DELETE /actors/v2/{reactorId}/dead-letters/{executionId}': (client) =>
    client.deadLetters.delete('r', 'e'),
  'GET /actors/v2/utilization': (client) => client.reactors.utilization(),
  'GET /actors/v2/{reactorId}/workers': (client) => client.workers.list('r'),
  'POST /actors/v2/{reactorId}/workers': (client) => client.workers.keep('r', 2),
  'GET /actors/v2/{reactorId}/workers/{workerId}': (client) => client.workers.get('r', 'w'),
  'DELETE /actors/v2/{reactorId}/workers/{workerId}': (client) => client.workers.delete('r', 'w'),
  'GET /actors/v2/events': (client) => client.events.follow().next(),
  'GET /actors/v2/{reactorId}/deliveries': (client) => client.deliveries.list('r').page(),
  'POST /actors/v2/{reactorId}/deliveries/{deliveryId}': (client) =>
    client.deliveries.redeliver('r', 'd'),
  'GET /actors/v2/{reactorId}/webhook-secret': (client) => client.reactors.webhookSecret('r'),
  'POST /actors/v2/{reactorId}/webhook-secret': (client) =>
    client.reactors.rotateWebhookSecret('r'),
  'GET /actors/v2/search/actors': (client) => client.search.reactors({ status: 'READY' }).page(),
  'GET /actors/v2/search/executions': (client) =>
    client.search.executions({ 'exitCode.gt': 0 }).page(),
  'GET /actors/v2/search/workers': (client) => client.search.workers().page(),
  'GET /actors/v2/search/logs': (client) => client.search.logs({ search: 'x' }).page(),
  'GET /audit/v2': (client) => client.audit.list({ user: 'ada' }).page(),
};

/** Pages that people meet on their way to a token; programs build the address of the first and read nothing of them. */
const pages = [
  'GET /authorize',
  'GET /login',
  'POST /login',
  'GET /logout',
  'POST /logout',
  'GET /consent',
  'POST /consent',
  'GET /device',
  'POST /device',
  'GET /device/connected',
  'GET /device/denied',
  'GET /account/applications',
  'POST /account/applications/revoke',
];

/** These give back something of their own making. */
const shaped = new Set([
  'POST /token',
  'POST /device_authorization',
  'GET /actors/v2/events',
  'GET /actors/v2/{reactorId}/state',
  'POST /actors/v2/{reactorId}/state',
  'GET /actors/v2/{reactorId}/results',
  'GET /actors/v2/{reactorId}/executions/{executionId}/results',
  'GET /actors/v2/{reactorId}/executions/{executionId}/message',
]);

describe('the operations of the API', () => {
  let description: Description;
  let described: ReadonlyMap<string, Operation>;
  before(async () => {
    description = await readDescription();
    described = new Map(
      Object.entries(description.paths).flatMap(([path, verbs]) =>
        Object.entries(verbs).map(([verb, operation]) => [
          `${verb.toUpperCase()} ${path}`,
          operation,
        ]),
      ),
    );
  });

  test('all have a method, but for the pages that are for people', () => {
    assert.deepEqual([...described.keys()].sort(), [...Object.keys(calls), ...pages].sort());
  });

  test('are called by verb and path, and answered with the result that the description shows', async () => {
    for (const [name, call] of Object.entries(calls)) {
      const operation = described.get(name);
      assert.ok(operation, name);
      const answer = exampleAnswer(name, operation);
      const asked: string[] = [];
      const answering: typeof fetch = async (input, init) => {
        asked.push(`${init?.method} ${new URL(String(input)).pathname}`);
        return answer.reply();
      };
      const options = { baseUrl, fetch: answering };
      const client = new ReactordClient({ ...options, auth: basic('ada', 'secret') });
      const oauth = new OAuth({ ...options, clientId: 'key', clientSecret: 'secret' });
      const result = await call(client, oauth);
      assert.match(asked[0] ?? '', patternOf(name), name);
      assert.equal(asked.length, 1, name);
      if (!shaped.has(name) && result !== undefined) assert.deepEqual(result, answer.result, name);
    }
  });
});

/** `{reactorId}` stands for one part of a path. */
const patternOf = (name: string): RegExp =>
  new RegExp(`^${name.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);

interface Answer {
  readonly result: unknown;
  reply(): Response;
}

function exampleAnswer(name: string, operation: Operation): Answer {
  const [status, described] = Object.entries(operation.responses)
    .filter(([each]) => each.startsWith('2'))
    // Of a message, the usual reply.
    .sort(([a], [b]) => (name.endsWith('/messages') ? Number(b) - Number(a) : 0))[0] ?? ['', {}];
  const [type = '', content] = Object.entries(described.content ?? {})[0] ?? [];
  const shown = exampleOf(content);
  // The description shows the compact shape, which this client does not ask for.
  const whole = (profile: unknown) => ({ ...Object(profile), roles: [], _links: {} });
  const isProfile = name.includes(' /profiles/v2') && shown !== null;
  const example = !isProfile ? shown : Array.isArray(shown) ? shown.map(whole) : whole(shown);
  const isText = typeof example === 'string' || type !== 'application/json';
  const body = isText ? String(example) : JSON.stringify(example);
  const sent = type === 'text/event-stream' ? `id: 1\ndata: ${JSON.stringify(example)}\n\n` : body;
  const isEnvelope = typeof example === 'object' && example !== null && 'result' in example;
  return {
    result: isEnvelope ? example.result : example,
    reply: () => new Response(sent, { status: Number(status), headers: { 'content-type': type } }),
  };
}

function exampleOf(content: object | undefined): unknown {
  assert.ok(content);
  if ('example' in content) return content.example;
  assert.ok('examples' in content && typeof content.examples === 'object', 'an example');
  const [first] = Object.values(content.examples ?? {});
  return first.value;
}
