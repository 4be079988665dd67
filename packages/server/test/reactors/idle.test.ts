import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

const limitMs = 3_000;
let scene: Scene;
let ada: Sender;

before(async () => {
  scene = await openScene({ environment: { REACTORD_IDLE_REMOVAL: `${limitMs / 1000}s` } });
  ada = await scene.user('ada');
});
after(() => scene.dispose());

const show = async (id: string) => (await ada.call('GET', `/${id}`)).json().result;
const gone = (id: string) =>
  until('the reactor to be gone', async () => (await ada.call('GET', `/${id}`)).status === 404);

test('a reactor that asks for it goes when nobody uses it, and the record says when', async () => {
  const image = scene.image.reference;
  const id = await ada.register({ image, remove_when_idle: true });
  const record = await show(id);
  assert.equal(record.removeWhenIdle, true);
  assert.equal(Date.parse(record.idleRemovalTime) - Date.parse(record.lastUpdateTime), limitMs);
  assert.equal(
    (await ada.call('POST', `/aliases`, json({ alias: 'fleeting', actor_id: id }))).status,
    201,
  );
  await gone(id);
  assert.ok(Date.now() >= Date.parse(record.idleRemovalTime));
  assert.equal((await ada.call('GET', '/aliases/fleeting')).status, 404);
  const audit = await scene.admin.call('GET', `?resource=/actors/v2/${id}`, { area: '/audit/v2' });
  const actions = audit.json().result.map(({ action }: { action: string }) => action);
  assert.deepEqual(actions, ['Remove an idle reactor', 'Register a reactor']);
});

test('work keeps it: it goes a while after the last execution has ended', async () => {
  const run = 'sleep 4';
  const image = scene.image.reference;
  const id = await ada.register({
    image,
    default_environment: { RUN: run },
    remove_when_idle: true,
  });
  const execution = await ada.send(id);
  await ada.running(id, execution);
  assert.equal((await show(id)).idleRemovalTime, null);
  const { status, finishTime } = await ada.ended(id, execution);
  assert.equal(status, 'COMPLETE');
  await gone(id);
  assert.ok(Date.now() - Date.parse(`${finishTime}Z`.replace(' ', 'T')) >= limitMs);
});

test('a PUT that does not ask for it any more keeps it; others never go', async () => {
  const image = scene.image.reference;
  const kept = await ada.register({ image, removeWhenIdle: 'true' });
  const plain = await ada.register({ image });
  assert.equal((await ada.call('PUT', `/${kept}`, json({ image }))).status, 200);
  const found = await ada.call('GET', '/search/actors', { query: '?removeWhenIdle=false' });
  assert.equal(found.json().result._metadata.totalCount, 2);
  const watched = await ada.register({ image, remove_when_idle: true });
  await gone(watched);
  for (const id of [kept, plain]) {
    const record = await show(id);
    assert.deepEqual([record.status, record.removeWhenIdle], ['READY', false]);
    assert.ok(!('idleRemovalTime' in record));
  }
});

function json(fields: object) {
  return { body: JSON.stringify(fields), type: 'application/json' };
}
