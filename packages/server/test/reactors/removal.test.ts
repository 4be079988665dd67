import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Users } from '../../src/identity/users.ts';
import { once } from '../../src/store/statement.ts';
import { besideService } from '../harness/beside-service.ts';
import { type ImageRegistry, openImageRegistry } from '../harness/image-registry.ts';
import { type ReactorsCaller, reactorsCaller } from '../harness/reactors-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

const image = '127.0.0.1:1/tool';

let registry: ImageRegistry;
let service: RunningService;
let ada: ReactorsCaller;
let admin: ReactorsCaller;

before(async () => {
  registry = await openImageRegistry();
  service = await startService();
  ada = await reactorsCaller(service, 'ada');
  admin = await reactorsCaller(service);
});
after(async () => {
  await service.dispose();
  await registry.close();
});

test('A deleted reactor is gone: the answer has a null result, and everything afterwards is 404', async () => {
  const { id } = await ada.register({ image });
  const reply = await ada.call('DELETE', `/${id}`);
  assert.equal(reply.status, 200);
  const { status, message, result } = reply.json();
  assert.deepEqual([status, message, result], ['success', 'Actor deleted successfully.', null]);
  assert.equal((await ada.call('GET', `/${id}`)).status, 404);
  assert.equal((await ada.call('PUT', `/${id}`, { json: { image } })).status, 404);
  assert.equal((await ada.call('DELETE', `/${id}`)).status, 404);
  assert.ok(!(await ada.call('GET', '')).text.includes(id));
});

test('A reactor whose image is being pulled is deleted at once, and the pull is given up', async () => {
  await registry.push('deleted/tool', '1', 'deleted');
  const held = registry.hold();
  try {
    const { id } = await ada.register({ image: `${registry.host}/deleted/tool:1` });
    await until('the pull to ask for layers', () => held.waiting() > 0);
    assert.equal((await ada.call('DELETE', `/${id}`)).status, 200);
    assert.equal((await ada.call('GET', `/${id}`)).status, 404);
  } finally {
    held.release();
  }
  assert.doesNotMatch(service.output(), /trying again/);
});

test('Deletes at the same time all succeed or find nothing', async () => {
  const { id } = await ada.register({ image });
  const replies = await Promise.all(Array.from({ length: 6 }, () => ada.call('DELETE', `/${id}`)));
  assert.ok(replies.some(({ status }) => status === 200));
  for (const { status } of replies) assert.ok(status === 200 || status === 404);
  assert.equal((await ada.call('GET', `/${id}`)).status, 404);
});

test('A removal that a kill has interrupted is finished at the next start', async () => {
  let mortal = await startService();
  try {
    const bea = await reactorsCaller(mortal, 'bea');
    const { id } = await bea.register({ image });
    const { id: other } = await bea.register({ image });
    await bea.pulled(id);
    mortal.signal('SIGKILL');
    await mortal.ended;
    await besideService(mortal, (store) =>
      store.write(
        once((db) =>
          db.updateTable('reactors').set({ status: 'SHUTTING_DOWN' }).where('id', '=', id),
        ),
      ),
    );
    mortal = await startService({ data: mortal.data });
    const later = bea.at(mortal);
    await until('the reactor to be gone', async () => {
      const { status } = await later.call('GET', `/${id}`);
      return status === 404;
    });
    assert.equal((await later.show(other)).id, other);
  } finally {
    await mortal.dispose();
  }
});

test('A reactor that is being deleted shows it, and takes no PUT', async () => {
  const { id } = await ada.register({ image });
  await ada.pulled(id);
  // As if another process had begun, and were at work.
  await besideService(service, (store) =>
    store.write(
      once((db) =>
        db
          .updateTable('reactors')
          .set({ status: 'SHUTTING_DOWN', tended_at: Date.now() + 60_000 })
          .where('id', '=', id),
      ),
    ),
  );
  assert.equal((await ada.show(id)).status, 'SHUTTING_DOWN');
  const put = await ada.call('PUT', `/${id}`, { json: { image } });
  assert.equal(put.status, 409);
  assert.match(put.json().message, /is being deleted/);
  assert.equal((await ada.call('DELETE', `/${id}`)).status, 200);
  assert.equal((await ada.call('GET', `/${id}`)).status, 404);
});

test('The reactors of a deleted user go too', async () => {
  const eve = await reactorsCaller(service, 'eve');
  const { id } = await eve.register({ image });
  const removed = await fetch(`${service.url}/profiles/v2/eve`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${admin.token}` },
  });
  assert.equal(removed.status, 200, await removed.text());
  await until('the reactor to be gone', async () => {
    const { status } = await admin.call('GET', `/${id}`);
    return status === 404;
  });
});

test('The reactors of a user who was deleted while the service stood still go at the next start', async () => {
  let mortal = await startService();
  try {
    const bea = await reactorsCaller(mortal, 'bea');
    const { id } = await bea.register({ image });
    const chief = await reactorsCaller(mortal);
    mortal.signal('SIGKILL');
    await mortal.ended;
    await besideService(mortal, async (store, changes) => {
      const users = new Users(store, changes);
      const user = await users.byUsername('bea');
      assert.ok(user !== undefined && (await users.remove(user.id)));
    });
    mortal = await startService({ data: mortal.data });
    await until('the reactor to be gone', async () => {
      const { status } = await chief.at(mortal).call('GET', `/${id}`);
      return status === 404;
    });
  } finally {
    await mortal.dispose();
  }
});
