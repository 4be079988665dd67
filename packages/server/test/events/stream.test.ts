import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDatabase, type PostgresServer, startPostgres } from '../../../../setup/postgres.ts';
import { type EventStream, openEvents, type ServerEvent } from '../harness/event-stream.ts';
import { openScene, type Scene, Sender, senderFor } from '../harness/execution-scene.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

/** Two services on one PostgreSQL database: what happens in one is told by both. */
let server: PostgresServer | undefined;
let drop: (() => Promise<void>) | undefined;
let scene: Scene;
let other: RunningService;

before(async () => {
  let { REACTORD_TEST_POSTGRES: address } = process.env;
  if (address === undefined) {
    server = await startPostgres();
    address = server.url;
  }
  const database = await createDatabase(address);
  drop = database.drop;
  const environment = { REACTORD_DATABASE: database.url };
  scene = await openScene({ environment });
  other = await startService({ environment });
});
after(async () => {
  await other?.dispose();
  await scene?.dispose();
  await drop?.();
  await server?.stop();
});

/** Made over HTTP: the users command would look into the data folder. */
async function user(username: string): Promise<Sender> {
  const password = `${username} and a long word`;
  const made = await scene.admin.call('POST', '', {
    area: '/profiles/v2',
    body: JSON.stringify({ username, password, grants: ['reactors'] }),
    type: 'application/json',
  });
  assert.equal(made.status, 201, made.text);
  return senderFor(scene.service, username, password);
}

const follow = (sender: Sender, query = '', headers = {}): Promise<EventStream> =>
  openEvents(`${sender.service.url}/actors/v2/events${query}`, {
    authorization: `Bearer ${sender.token}`,
    ...headers,
  });

async function take(stream: EventStream, count: number): Promise<ServerEvent[]> {
  const found: ServerEvent[] = [];
  for await (const event of stream.events()) {
    found.push(event);
    if (found.length === count) break;
  }
  stream.leave();
  return found;
}

const register = (sender: Sender) =>
  sender.register({ image: scene.image.reference, default_environment: { RUN: 'true' } });

test("a user hears of what happens to their own, whichever process does it, and not of others'", async () => {
  const [ada, bob] = [await user('ada'), await user('bob')];
  const there = new Sender(other, ada.token);
  const stream = await follow(there);
  assert.equal(stream.status, 200);
  assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream/);
  const heard = take(stream, 3);
  await register(bob);
  const id = await register(ada);
  const { id: execution } = await ada.runOnce(id);
  const events = await heard;
  assert.deepEqual(
    events.map(({ event, data }) => [event, data.actor_id]),
    [
      ['ACTOR_READY', id],
      ['EXECUTION_STARTED', id],
      ['EXECUTION_COMPLETE', id],
    ],
  );
  assert.equal(events[2]?.data.execution_id, execution);
  // Where one connection has come to, the next goes on, at whatever process.
  const rest = await take(await follow(ada, '', { 'last-event-id': events[0]?.id ?? '' }), 2);
  assert.deepEqual(
    rest.map((event) => event.id),
    events.slice(1).map((event) => event.id),
  );
});

test('the stream can be narrowed to a reactor and to types; everything is for admins', async () => {
  const eve = await user('eve');
  const [one, two] = [await register(eve), await register(eve)];
  await eve.runOnce(one);
  await eve.runOnce(two);
  const query = `?after=0&reactor=${two}&type=execution_complete,ACTOR_READY`;
  const events = await take(await follow(eve, query), 2);
  assert.deepEqual(
    events.map(({ event, data }) => [event, data.actor_id]),
    [
      ['ACTOR_READY', two],
      ['EXECUTION_COMPLETE', two],
    ],
  );
  const all = await take(await follow(scene.admin, '?all=true&after=0'), 6);
  assert.ok(new Set(all.map(({ data }) => data.actor_id)).size >= 2);
  assert.equal((await eve.call('GET', '/events?all=true')).status, 403);
  const typo = await eve.call('GET', '/events?type=ACTOR_REDY');
  assert.equal(typo.status, 400);
  assert.match(typo.json().message, /did you mean ACTOR_READY/);
  assert.equal((await scene.admin.call('GET', `/events?reactor=nosuchreactor1`)).status, 404);
});

test('the stream ends with the token', async () => {
  const carl = await user('carl');
  const stream = await follow(carl);
  const ended = stream.all();
  const reply = await scene.admin.call('DELETE', '/profiles/v2/carl', { area: '' });
  assert.ok(reply.status < 300, reply.text);
  assert.deepEqual(await ended, []);
  await until('it to be refused', async () => (await carl.call('GET', '/events')).status === 401);
});
