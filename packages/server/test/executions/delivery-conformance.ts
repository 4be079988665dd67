import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceError } from '../../src/errors.ts';
import { admitMany, type Delivery } from '../../src/executions/admit-many.ts';
import { claim, markRunning, reactorsWithWork } from '../../src/executions/claim.ts';
import {
  deleteDeadLetter,
  deleteDeadLetters,
  listDeadLetters,
  replayAll,
  replayOne,
} from '../../src/executions/dead-letters.ts';
import {
  forgetKeys,
  forgetLetters,
  removeRecords,
} from '../../src/executions/delivery-retention.ts';
import { DueMessages } from '../../src/executions/due.ts';
import { type Execution, executionFrom } from '../../src/executions/execution.ts';
import { nowInMicroseconds } from '../../src/executions/execution-time.ts';
import { putBack } from '../../src/executions/retry.ts';
import { failed, type SettleParts, settle } from '../../src/executions/settle.ts';
import { countDelayed, countWaiting, dropWaiting } from '../../src/executions/waiting.ts';
import { WorkerPlaces } from '../../src/executions/worker-places.ts';
import { workersOf } from '../../src/executions/worker-rows.ts';
import { newId } from '../../src/ids.ts';
import { once } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';
import { quiet } from '../harness/beside-service.ts';
import type { TwoStores } from '../harness/two-stores.ts';
import { until } from '../harness/until.ts';

/** What happens to messages beyond the plain way, on every database. `openBoth` gives two processes' view of one store. */
export function testDelivery(name: string, openBoth: () => Promise<TwoStores>): void {
  let one: Store;
  let other: Store;
  let close: () => Promise<void>;

  before(async () => {
    ({ one, other, close } = await openBoth());
  });
  after(() => close());

  const executor = { userId: 'user', username: 'ada', clientId: null };

  const makeReactor = async (maxWorkers = 1, ownerId = 'owner') => {
    const id = newId();
    await one.write(
      once((db) =>
        db.insertInto('reactors').values({
          id,
          owner_id: ownerId,
          image: 'image',
          stateless: 1,
          max_workers: maxWorkers,
          timeout: 60,
          log_ex: 60,
          token: 1,
          status: 'READY',
          revision: 1,
          created_at: 0,
          updated_at: 0,
        }),
      ),
    );
    return id;
  };

  const makeUser = async () => {
    const id = newId();
    await one.write(
      once((db) =>
        db.insertInto('users').values({
          id,
          uid: Math.floor(Math.random() * 1e12),
          username: id,
          password_hash: '',
          password_changed_at: 0,
          created_at: 0,
          updated_at: 0,
        }),
      ),
    );
    return id;
  };

  const post = (reactorId: string, more: Partial<Delivery> = {}, store = one) =>
    admitMany(store, { reactorId, executor, items: [item('hello')], ...more });

  const item = (text: string) => ({
    message: { contentType: 'str' as const, body: Buffer.from(text) },
    environment: {},
  });

  const key = (text: string, fingerprint = 'same', keepSeconds = 60) => ({
    userId: 'user',
    key: text,
    fingerprint,
    keepSeconds,
  });

  /** Without tokens: they have tests of their own. */
  const settling = (store: Store): SettleParts => ({
    store,
    changes: { write: async (_changes, ...unit) => store.write(...unit) },
    // @ts-expect-error: the rest of it is not asked for.
    tokens: {
      end: () => ({
        change: { kind: 'token', subject: '' },
        statement: once((db) => db.deleteFrom('access_tokens').where('user_id', '=', 'nobody')),
      }),
    },
  });

  const begin = async (reactorId: string): Promise<Execution> => {
    const claimed = await claim(one, reactorId, 'here');
    assert.ok(claimed !== undefined);
    const { id, workerId } = claimed;
    await one.write(markRunning({ id, workerId: workerId ?? '', now: 1 }));
    return claimed;
  };

  const find = async (id: string): Promise<Execution> =>
    executionFrom(
      await one.read
        .selectFrom('executions')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow(),
    );

  const failure = (execution: Execution, words = 'it broke') => ({
    ...failed(execution, words),
    isDead: true,
    cpu: 5,
    io: 6,
    runtime: 7,
  });

  const dueIn = (seconds: number) => nowInMicroseconds() + seconds * 1_000_000;

  const die = async (reactorId: string): Promise<string> => {
    await post(reactorId);
    const execution = await begin(reactorId);
    assert.ok(await settle(settling(one), execution, failure(execution)));
    return execution.id;
  };

  const watching = (store: Store, woken: string[] = []) =>
    new DueMessages({ store, wake: (id) => woken.push(id), log: quiet });

  test(`${name}: a batch takes its places together, in order, in both processes at once`, async () => {
    const reactor = await makeReactor();
    const batches = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        post(reactor, { items: [item('a'), item('bb'), item('ccc')] }, at % 2 === 0 ? one : other),
      ),
    );
    const rows = await one.read
      .selectFrom('executions')
      .select(['id', 'seq', 'message_size'])
      .where('reactor_id', '=', reactor)
      .orderBy('seq')
      .execute();
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      Array.from({ length: 60 }, (_, at) => at + 1),
    );
    const places = new Map(rows.map(({ id }, at) => [id, at]));
    for (const { executionIds } of batches) {
      const first = places.get(executionIds[0] ?? '') ?? Number.NaN;
      assert.deepEqual(
        executionIds.map((id) => places.get(id)),
        [first, first + 1, first + 2],
      );
    }
    assert.equal(await countWaiting(one, reactor), 60);
    const { stored_bytes } = await reactorRow(reactor);
    assert.equal(stored_bytes, 20 * 6);
  });

  const reactorRow = (id: string) =>
    one.read.selectFrom('reactors').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

  test(`${name}: a batch for a reactor that is not there leaves nothing behind`, async () => {
    await assert.rejects(
      post('nosuchreactor1', { items: [item('a'), item('b')], key: key('nothing') }),
      (error) => error instanceof ServiceError && error.status === 404,
    );
    const kept = await one.read.selectFrom('idempotency_keys').selectAll().execute();
    assert.equal(kept.filter((row) => row.key === 'nothing').length, 0);
  });

  test(`${name}: of many requests at once with one key exactly one is accepted, and all get its reply`, async () => {
    const reactor = await makeReactor();
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        post(reactor, { key: key('once') }, at % 2 === 0 ? one : other),
      ),
    );
    assert.equal(new Set(replies.map(({ executionIds }) => executionIds[0])).size, 1);
    assert.equal(replies.filter(({ repeated }) => !repeated).length, 1);
    assert.equal(await countWaiting(one, reactor), 1);
  });

  test(`${name}: a key with another request is refused, of another user is another key, and is forgotten in time`, async () => {
    const reactor = await makeReactor();
    const first = await post(reactor, { key: key('k', 'one', 1) });
    await assert.rejects(
      post(reactor, { key: key('k', 'two') }),
      (error) => error instanceof ServiceError && error.status === 422,
    );
    const others = await post(reactor, { key: { ...key('k', 'two'), userId: 'another' } });
    assert.equal(others.repeated, false);
    const again = await until('the key to be forgotten', async () => {
      const reply = await post(reactor, { key: key('k', 'one', 60) });
      return reply.repeated ? undefined : reply;
    });
    assert.notDeepEqual(again.executionIds, first.executionIds);
    assert.equal(await forgetKeys(one, Date.now() + 3_600_000), false);
    const left = await one.read
      .selectFrom('idempotency_keys')
      .selectAll()
      .where('reactor_id', '=', reactor)
      .execute();
    assert.deepEqual(left, []);
  });

  test(`${name}: a delayed message is in nobody's way, and takes its place when its time has come`, async () => {
    const reactor = await makeReactor();
    const [late] = (await post(reactor, { delaySeconds: 3600 })).executionIds;
    const [soon] = (await post(reactor, { delaySeconds: 1 })).executionIds;
    assert.equal(await countWaiting(one, reactor), 0);
    assert.equal(await countDelayed(one, reactor), 2);
    assert.ok(!(await reactorsWithWork(one)).includes(reactor));
    assert.equal(await claim(one, reactor, 'here'), undefined);
    const [plain] = (await post(reactor)).executionIds;
    assert.equal((await begin(reactor)).id, plain);
    // Two processes look after it, and one of them gives it its place.
    const woken: string[] = [];
    const both = [watching(one, woken), watching(other, woken)];
    for (const due of both) due.start();
    await until(
      'the message to take its place',
      async () => (await countWaiting(one, reactor)) === 1,
    );
    await until('the reactor to be woken', () => woken.includes(reactor));
    for (const due of both) due.stop();
    assert.equal((await find(soon ?? '')).seq, 2);
    assert.equal(await countDelayed(one, reactor), 1);
    const purged: string[] = [];
    assert.equal(await dropWaiting(one, reactor, 'dropped', (id) => purged.push(id)), 2);
    assert.deepEqual(purged, [late, soon]);
    assert.equal(await countDelayed(one, reactor), 0);
    assert.equal(await countWaiting(one, reactor), 0);
  });

  test(`${name}: with one worker a retry keeps its place, and the messages behind it wait`, async () => {
    const reactor = await makeReactor();
    await post(reactor, { items: [item('a'), item('b')] });
    const first = await begin(reactor);
    assert.ok(
      await putBack(settling(one), first, failure(first), { dueAt: dueIn(1), keepsPlace: true }),
    );
    const waiting = await find(first.id);
    assert.deepEqual(
      [waiting.status, waiting.attempt, waiting.seq, waiting.cpu, waiting.workerId],
      ['SUBMITTED', 2, 1, 5, null],
    );
    assert.equal(await countWaiting(one, reactor), 2);
    assert.equal(await claim(one, reactor, 'here'), undefined);
    const again = await until('the retry to be due', () => claim(other, reactor, 'here'));
    assert.deepEqual([again.id, again.attempt], [first.id, 2]);
    // A settling of the first try that comes late meets nothing.
    assert.equal(
      await settle(settling(one), { ...first, workerId: again.workerId }, failure(first)),
      false,
    );
    await one.write(markRunning({ id: again.id, workerId: again.workerId ?? '', now: 1 }));
    assert.ok(await settle(settling(one), again, failure(again)));
    assert.deepEqual([(await find(first.id)).cpu, (await reactorRow(reactor)).total_cpu], [10, 10]);
    assert.equal(await countWaiting(one, reactor), 1);
  });

  test(`${name}: with several workers a retry makes way, and comes back at the end of the order`, async () => {
    const reactor = await makeReactor(2);
    await post(reactor, { items: [item('a'), item('b'), item('c')] });
    const first = await begin(reactor);
    const second = await begin(reactor);
    assert.ok(
      await putBack(settling(one), first, failure(first), { dueAt: dueIn(1), keepsPlace: false }),
    );
    assert.deepEqual([await countWaiting(one, reactor), await countDelayed(one, reactor)], [1, 1]);
    const third = await begin(reactor);
    assert.equal(third.seq, 3);
    for (const execution of [second, third])
      assert.ok(await settle(settling(one), execution, failure(execution)));
    const due = watching(other);
    due.start();
    const again = await until('the retry to be due', () => claim(one, reactor, 'here'));
    due.stop();
    assert.deepEqual([again.id, again.seq, again.attempt], [first.id, 4, 2]);
    assert.deepEqual([await countWaiting(one, reactor), await countDelayed(one, reactor)], [0, 0]);
  });

  test(`${name}: an execution that somebody wants halted is not tried again`, async () => {
    const reactor = await makeReactor();
    await post(reactor);
    const execution = await begin(reactor);
    await one.write(
      once((db) =>
        db
          .updateTable('executions')
          .set({ halt_reason: 'halted by ada' })
          .where('id', '=', execution.id),
      ),
    );
    const plan = { dueAt: dueIn(1), keepsPlace: true };
    assert.equal(await putBack(settling(one), execution, failure(execution), plan), false);
    assert.equal((await find(execution.id)).status, 'RUNNING');
  });

  test(`${name}: dead letters are listed in pages, deleted, and forgotten when they are too old`, async () => {
    const reactor = await makeReactor();
    const died = [await die(reactor), await die(reactor), await die(reactor)];
    const page = await listDeadLetters(one, reactor, 2, undefined);
    assert.deepEqual(
      page.map(({ executionId, reason, attempts, size }) => [executionId, reason, attempts, size]),
      [
        [died[2], 'it broke', 1, 5],
        [died[1], 'it broke', 1, 5],
      ],
    );
    const rest = await listDeadLetters(one, reactor, 2, page[1]?.seq);
    assert.deepEqual(
      rest.map(({ executionId }) => executionId),
      [died[0]],
    );
    assert.ok(await deleteDeadLetter(one, reactor, died[1] ?? ''));
    assert.equal(await deleteDeadLetter(one, reactor, died[1] ?? ''), false);
    await forgetLetters(one, (await find(died[0] ?? '')).finishedAt ?? 0);
    assert.equal((await listDeadLetters(one, reactor, 10, undefined)).length, 2);
    assert.equal(await deleteDeadLetters(one, reactor, nowInMicroseconds()), 2);
    assert.deepEqual(await listDeadLetters(one, reactor, 10, undefined), []);
  });

  test(`${name}: a dead letter that is replayed many times at once runs once`, async () => {
    const reactor = await makeReactor();
    const died = await die(reactor);
    const replay = { reactorId: reactor, executor, limits: undefined };
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) => replayOne(at % 2 === 0 ? one : other, replay, died)),
    );
    const [replayed, ...more] = replies.filter((reply) => reply !== undefined);
    assert.deepEqual(more, []);
    assert.equal(await countWaiting(one, reactor), 1);
    const { contentType, messageSize } = await find(replayed?.executionIds[0] ?? '');
    assert.deepEqual([contentType, messageSize], ['str', 5]);
    assert.equal(await replayAll(one, replay, nowInMicroseconds(), () => {}), 0);
  });

  test(`${name}: all dead letters are replayed in the order of their messages`, async () => {
    const reactor = await makeReactor();
    for (let at = 0; at < 3; at += 1) await die(reactor);
    const replay = { reactorId: reactor, executor, limits: undefined };
    const ids: string[] = [];
    assert.equal(await replayAll(one, replay, nowInMicroseconds(), (id) => ids.push(id)), 3);
    const seqs = await Promise.all(ids.map(async (id) => (await find(id)).seq));
    assert.deepEqual(seqs, [4, 5, 6]);
  });

  test(`${name}: quotas of waiting messages and stored bytes hold exactly, over all reactors and processes`, async () => {
    const ownerId = await makeUser();
    const reactors = [await makeReactor(1, ownerId), await makeReactor(1, ownerId)];
    const limits = { ownerId, waitingMessages: 7, storedBytes: Number.MAX_SAFE_INTEGER };
    const replies = await Promise.allSettled(
      Array.from({ length: 30 }, (_, at) =>
        post(reactors[at % 2] ?? '', { limits }, at % 4 < 2 ? one : other),
      ),
    );
    const refused = replies.filter((reply) => reply.status === 'rejected');
    assert.equal(refused.length, 23);
    for (const { reason } of refused) {
      assert.ok(reason instanceof ServiceError, String(reason));
      assert.deepEqual([reason.status, reason.headers['retry-after']], [429, '10']);
    }
    // What runs does not wait.
    await begin(reactors[0] ?? '');
    assert.equal((await post(reactors[1] ?? '', { limits })).repeated, false);
    await assert.rejects(post(reactors[1] ?? '', { limits }));
    const bytes = { ownerId, waitingMessages: 100, storedBytes: 8 * 5 + 4 };
    await assert.rejects(
      post(reactors[1] ?? '', { limits: bytes }),
      (error) => error instanceof ServiceError && error.status === 409,
    );
    assert.ok(await post(reactors[1] ?? '', { items: [item('4444')], limits: bytes }));
  });

  test(`${name}: the bytes of records that are removed count no more`, async () => {
    const reactor = await makeReactor();
    const died = await die(reactor);
    await post(reactor, { items: [item('123')] });
    await one.write(...removeRecords([died]));
    assert.equal((await reactorRow(reactor)).stored_bytes, 3);
  });

  test(`${name}: a worker is made with its first claim, used again, and goes when nobody needs it`, async () => {
    const reactor = await makeReactor();
    const workers = new WorkerPlaces({ store: one, instance: 'mine', idleLimit: 0, log: quiet });
    const claimWith = async (places: WorkerPlaces) => {
      const worker = places.take(reactor);
      const claimed = await claim(one, reactor, 'mine', worker);
      places.claimed(reactor, worker.id, claimed);
      return claimed;
    };
    assert.equal(await claimWith(workers), undefined);
    assert.deepEqual(await workersOf(one, reactor), []);
    await post(reactor, { items: [item('a'), item('b')] });
    const seen: (string | null)[] = [];
    for (let at = 0; at < 2; at += 1) {
      const claimed = await claimWith(workers);
      assert.ok(claimed !== undefined);
      seen.push(claimed.workerId);
      assert.ok(await settle(settling(one), claimed, failure(claimed)));
      workers.free(claimed);
    }
    const rows = await workersOf(one, reactor);
    assert.deepEqual(seen, [rows[0]?.id, rows[0]?.id], 'both ran in the one worker that there is');
    assert.ok(await workers.keep(reactor, 3));
    assert.ok(await workers.keep(reactor, 2));
    assert.equal((await workersOf(one, reactor)).length, 3);
    await workers.remove(reactor, rows[0]?.id ?? '', false);
    assert.equal((await workersOf(one, reactor)).length, 2);
    assert.equal((await reactorRow(reactor)).kept_workers, 2);
    // A service that comes back knows its workers, and keeps those that were asked for.
    const later = new WorkerPlaces({ store: one, instance: 'mine', idleLimit: 0, log: quiet });
    await later.load();
    await one.write(
      once((db) => db.updateTable('reactors').set({ kept_workers: 1 }).where('id', '=', reactor)),
    );
    await until('the surplus to go', async () => {
      await later.tidy();
      return (await workersOf(one, reactor)).length === 1;
    });
    await later.tidy();
    assert.equal((await workersOf(one, reactor)).length, 1);
    await later.forgetReactor(reactor);
    assert.deepEqual(await workersOf(one, reactor), []);
  });
}
