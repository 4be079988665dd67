import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createDatabase, type PostgresServer, startPostgres } from '../../../../setup/postgres.ts';
import { type ImageRegistry, openImageRegistry } from '../harness/image-registry.ts';
import { logged } from '../harness/logged.ts';
import { type ReactorsCaller, reactorsCaller } from '../harness/reactors-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

/** Two services on one PostgreSQL database. */
let server: PostgresServer | undefined;
let drop: (() => Promise<void>) | undefined;
let registry: ImageRegistry;
let one: RunningService;
let other: RunningService;
let atOne: ReactorsCaller;
let atOther: ReactorsCaller;

before(async () => {
  registry = await openImageRegistry();
  let { REACTORD_TEST_POSTGRES: address } = process.env;
  if (address === undefined) {
    server = await startPostgres();
    address = server.url;
  }
  const database = await createDatabase(address);
  drop = database.drop;
  const environment = { REACTORD_DATABASE: database.url };
  one = await startService({ environment });
  other = await startService({ environment });
  atOne = await reactorsCaller(one);
  atOther = atOne.at(other);
});
after(async () => {
  await one?.dispose();
  await other?.dispose();
  await drop?.();
  await server?.stop();
  await registry.close();
});

test('What one service registers, replaces and deletes, the other one shows', async () => {
  const digest = await registry.push('two/tool', '1', 'two');
  const image = `${registry.host}/two/tool:1`;
  const { id } = await atOne.register({ image, max_cpus: 0.5, default_environment: { A: 'ß' } });
  const record = await atOther.pulled(id);
  assert.equal(record.status, 'READY', record.statusMessage);
  assert.equal(record.imageDigest, digest);
  assert.deepEqual(record.defaultEnvironment, { A: 'ß' });
  assert.equal(record.maxCpus, 0.5);
  const put = await atOther.call('PUT', `/${id}`, { json: { image, description: 'new' } });
  assert.equal(put.status, 200, put.text);
  assert.equal((await atOne.show(id)).description, 'new');
  assert.equal((await atOne.call('DELETE', `/${id}`)).status, 200);
  assert.equal((await atOther.call('GET', `/${id}`)).status, 404);
});

test('The list has its pages on PostgreSQL too', async () => {
  const image = '127.0.0.1:1/tool';
  const ids: string[] = [];
  for (let number = 0; number < 5; number += 1) ids.unshift((await atOne.register({ image })).id);
  const first = await atOther.call('GET', '?limit=2');
  const next = /\/actors\/v2(\?[^>]*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const second = await atOther.call('GET', next);
  const listed = [...first.json().result, ...second.json().result];
  assert.deepEqual(
    listed.map((record: { id: string }) => record.id),
    ids.slice(0, 4),
  );
});

test('When a service is killed in the middle of a pull, the other one takes it up', async () => {
  await registry.push('left/tool', '1', 'left');
  const held = registry.hold();
  try {
    const { id } = await atOne.register({ image: `${registry.host}/left/tool:1` });
    await until('the pull to ask for layers', () => held.waiting() > 0);
    one.signal('SIGKILL');
    await one.ended;
    held.release();
    const record = await atOther.pulled(id);
    assert.equal(record.status, 'READY', record.statusMessage);
    await logged(other, new RegExp(`"reactor":"${id}".*reactor ready`));
  } finally {
    held.release();
  }
});
