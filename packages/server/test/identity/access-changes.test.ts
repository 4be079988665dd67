import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { AccessChange } from '../../src/identity/access-changes.ts';
import { prepared } from '../../src/store/statement.ts';
import { openIdentityScene } from '../harness/identity-scene.ts';
import { until } from '../harness/until.ts';

const purge = prepared((db, p: { upTo: number }) =>
  db.deleteFrom('access_changes').where('id', '<=', p.upTo),
);

describe('a change of access', () => {
  let scene: Awaited<ReturnType<typeof openIdentityScene>>;
  let other: Awaited<ReturnType<typeof scene.again>>;
  let heard: AccessChange[];
  let heardByOther: AccessChange[];
  beforeEach(async () => {
    scene = await openIdentityScene();
    other = await scene.again();
    [heard, heardByOther] = [[], []];
    scene.changes.onChange((change) => heard.push(change));
    other.changes.onChange((change) => heardByOther.push(change));
    await other.changes.look();
  });
  afterEach(async () => {
    other.stop();
    scene.stop();
    await scene.dispose();
  });

  const change = (subject: string): AccessChange => ({ kind: 'token', subject });

  test('is told in its own process before the write resolves, and once', async () => {
    scene.changes.start();
    const before = scene.changes.generation;
    await scene.changes.write([change('a'), change('b')]);
    assert.deepEqual(heard, [change('a'), change('b')]);
    assert.equal(scene.changes.generation, before + 2);
    await scene.changes.look();
    assert.equal(heard.length, 2);
  });

  test('reaches another process within two seconds', async () => {
    other.changes.start();
    await scene.changes.write([change('a')]);
    await until('the other process to hear of it', () => heardByOther.length === 1, 2_000);
    assert.deepEqual(heardByOther, [change('a')]);
  });

  test('is never overlooked, whoever writes and however many at once', async () => {
    const third = await scene.again();
    const subjects = Array.from({ length: 60 }, (_, place) => `subject ${place}`);
    await Promise.all(
      subjects.map(async (subject, place) => {
        await (place % 2 ? scene : third).changes.write([change(subject)]);
        await other.changes.look();
      }),
    );
    await other.changes.look();
    assert.deepEqual(heardByOther.map(({ subject }) => subject).sort(), subjects.sort());
  });

  test('is undone with its unit, and then told to nobody', async () => {
    const double = prepared((db) =>
      db.insertInto('counters').values({ name: 'access_change', value: 7 }),
    );
    await scene.changes.write([change('a')]);
    await assert.rejects(scene.changes.write([change('b')], double()));
    await other.changes.look();
    assert.deepEqual(heard, [change('a')]);
    assert.deepEqual(heardByOther, [change('a')]);
  });

  test('that was purged before a process could see it makes it forget everything', async () => {
    const { id } = await scene.users.create({ username: 'ada', password: 'long enough' });
    for (let round = 0; round < 5; round += 1) await scene.changes.write([change(`${round}`)]);
    await scene.store.write(purge({ upTo: 4 }));
    await other.changes.look();
    assert.deepEqual(heardByOther[0], { kind: 'user', subject: id });
    assert.deepEqual(
      heardByOther.slice(1).map(({ subject }) => subject),
      ['3', '4'],
    );
    await other.changes.look();
    assert.equal(heardByOther.length, 3);
  });
});
