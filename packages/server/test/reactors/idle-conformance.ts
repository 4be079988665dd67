import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { idleRemovalEntry } from '../../src/audit/idle-removals.ts';
import { ServiceError } from '../../src/errors.ts';
import { admit } from '../../src/executions/admit.ts';
import { AccessChanges } from '../../src/identity/access-changes.ts';
import { newId } from '../../src/ids.ts';
import { IdleReactors } from '../../src/reactors/idle-reactors.ts';
import { Reactors } from '../../src/reactors/reactors.ts';
import { once } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';
import { addExecution, addReactor } from '../executions/reactor-rows.ts';
import { quiet } from '../harness/beside-service.ts';
import type { TwoStores } from '../harness/two-stores.ts';

const hour = 3_600_000;
const limitMs = 12 * hour;

/** When idle reactors go, on every database. `openBoth` gives two processes' view of one store. */
export function testIdleRemoval(name: string, openBoth: () => Promise<TwoStores>): void {
  let one: Store;
  let other: Store;
  let close: () => Promise<void>;
  const now = Date.now();
  const ago = (hours: number) => now - hours * hour;

  before(async () => {
    ({ one, other, close } = await openBoth());
  });
  after(() => close());

  const makeReactor = async (changedHoursAgo: number, columns: object = {}) => {
    const id = newId();
    await addReactor(one, id, 'owner');
    await one.write(
      once((db) =>
        db
          .updateTable('reactors')
          .set({ remove_when_idle: 1, updated_at: ago(changedHoursAgo), ...columns })
          .where('id', '=', id),
      ),
    );
    return id;
  };
  const addOf = (reactorId: string, seq: number, status: 'COMPLETE' | 'RUNNING', hours: number) =>
    addExecution(one, {
      id: newId(),
      reactorId,
      ownerId: 'owner',
      seq,
      status,
      finishedAt: status === 'RUNNING' ? null : ago(hours) * 1000,
    });

  /** A process that looks, and what it has set out to remove. */
  const looker = (store: Store, limit: number | undefined = limitMs) => {
    const removed: string[] = [];
    const idle = new IdleReactors({
      store,
      reactors: new Reactors({ store, changes: new AccessChanges(store, quiet), log: quiet }),
      removal: { finish: async (id) => void removed.push(id) },
      limitMs: limit,
      noteIdleRemoval: idleRemovalEntry,
      log: quiet,
      now: () => now,
    });
    return { removed, look: () => idle.look() };
  };
  const statusOf = async (id: string) => {
    const row = await one.read
      .selectFrom('reactors')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirst();
    return row?.status;
  };
  const entriesOf = (id: string) =>
    one.read
      .selectFrom('audit_entries')
      .select(['action', 'status'])
      .where('resource', '=', `/actors/v2/${id}`)
      .execute();

  test(`${name}: what is idle for too long goes, once, whoever looks, and it is noted`, async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, () => makeReactor(13)));
    const lookers = [one, other, one, other].map((store) => looker(store));
    await Promise.all(lookers.map((each) => each.look()));
    assert.deepEqual(lookers.flatMap(({ removed }) => removed).sort(), ids.sort());
    for (const id of ids) {
      assert.equal(await statusOf(id), 'SHUTTING_DOWN');
      assert.deepEqual(await entriesOf(id), [{ action: 'Remove an idle reactor', status: 200 }]);
    }
  });

  test(`${name}: what did not ask for it, is in use, or was used lately stays`, async () => {
    const unasked = await makeReactor(1000, { remove_when_idle: 0 });
    const fresh = await makeReactor(11);
    const scheduled = await makeReactor(13, { cron_next_at: now + hour });
    const ended = await makeReactor(13);
    await addOf(ended, 1, 'COMPLETE', 11);
    const running = await makeReactor(13);
    await addOf(running, 1, 'RUNNING', 0);
    // One of the first was the last to end.
    const overtaken = await makeReactor(13);
    await addOf(overtaken, 1, 'COMPLETE', 1);
    for (let seq = 2; seq <= 40; seq += 1) await addOf(overtaken, seq, 'COMPLETE', 12.5);
    const old = await makeReactor(13);
    await addOf(old, 1, 'COMPLETE', 12.5);
    const { removed, look } = looker(other);
    await look();
    assert.deepEqual(removed, [old]);
    for (const id of [unasked, fresh, scheduled, ended, running, overtaken])
      assert.equal(await statusOf(id), 'READY');
    const never = new IdleReactors({
      store: one,
      reactors: new Reactors({ store: one, changes: new AccessChanges(one, quiet), log: quiet }),
      removal: { finish: () => Promise.reject(new Error('nothing is to be removed')) },
      limitMs: undefined,
      noteIdleRemoval: idleRemovalEntry,
      log: quiet,
      now: () => now + 1000 * limitMs,
    });
    await never.look();
    assert.equal(await statusOf(fresh), 'READY');
  });

  test(`${name}: a message at the very moment is refused, or the reactor stays and runs it`, async () => {
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, at) => makeReactor(13 + at / 100)),
    );
    const executor = { userId: 'owner', username: 'ada', clientId: null };
    const message = { contentType: 'str', body: Buffer.from('x') } as const;
    const { removed, look } = looker(one);
    // The look begins with the oldest, the messages with the youngest: they meet on the way.
    const looking = look();
    const accepted: string[] = [];
    const refused: string[] = [];
    for (const [at, reactorId] of ids.entries()) {
      const store = at % 2 === 0 ? other : one;
      try {
        await admit(store, { reactorId, executor, message, environment: {} });
        accepted.push(reactorId);
      } catch (error) {
        assert.ok(error instanceof ServiceError, String(error));
        assert.equal(error.status, 404);
        refused.push(reactorId);
      }
    }
    await looking;
    assert.deepEqual(removed.toSorted(), refused.toSorted());
    for (const id of accepted) assert.equal(await statusOf(id), 'READY');
    for (const id of refused) assert.equal(await statusOf(id), 'SHUTTING_DOWN');
    assert.ok(accepted.length > 0 && refused.length > 0);
    assert.equal(accepted.length + refused.length, ids.length);
  });
}
