import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  deliverAgain,
  endDelivery,
  queuesWithWork,
  removeOldEvents,
  takeFirst,
  tryAgainLater,
} from '../../src/events/deliveries.ts';
import { droppedEvents, executionEvent, reactorEvent } from '../../src/events/outbox.ts';
import { newId } from '../../src/ids.ts';
import { expectRows, once } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';
import { UnexpectedRows } from '../../src/store/store-errors.ts';
import { addExecution, addReactor } from '../executions/reactor-rows.ts';
import type { TwoStores } from '../harness/two-stores.ts';

/** What events and their deliveries do on every database. `openBoth` gives two processes' view of one store. */
export function testOutbox(name: string, openBoth: () => Promise<TwoStores>): void {
  let one: Store;
  let other: Store;
  let close: () => Promise<void>;

  before(async () => {
    ({ one, other, close } = await openBoth());
  });
  after(() => close());

  const makeReactor = async (targets: { webhook?: string; link?: string } = {}) => {
    const id = newId();
    await addReactor(one, id, 'owner');
    if (Object.keys(targets).length > 0)
      await one.write(once((db) => db.updateTable('reactors').set(targets).where('id', '=', id)));
    return id;
  };
  const started = (reactorId: string, executionId = 'x') =>
    executionEvent({
      reactorId,
      executionId,
      type: 'EXECUTION_STARTED',
      status: 'RUNNING',
      exitCode: null,
      statusMessage: '',
    });
  const eventsOf = (reactorId: string) =>
    one.read
      .selectFrom('events')
      .selectAll()
      .where('reactor_id', '=', reactorId)
      .orderBy('id')
      .execute();
  const deliveriesOf = (reactorId: string) =>
    one.read
      .selectFrom('deliveries')
      .selectAll()
      .where('reactor_id', '=', reactorId)
      .orderBy('id')
      .execute();

  test(`${name}: an event is kept with its unit or not at all, and numbers rise`, async () => {
    const id = await makeReactor();
    await Promise.all(
      Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? one : other).write(...started(id))),
    );
    const undone = one.write(
      ...started(id, 'undone'),
      expectRows(
        once((db) => db.updateTable('reactors').set({ name: 'x' }).where('id', '=', 'none')),
        1,
      ),
    );
    await assert.rejects(undone, UnexpectedRows);
    const events = await eventsOf(id);
    assert.equal(events.length, 40);
    assert.ok(events.every(({ execution_id }) => execution_id === 'x'));
    assert.equal(new Set(events.map((event) => event.id)).size, 40);
    assert.deepEqual(await deliveriesOf(id), []);
    await one.write(...started('gone'));
    assert.deepEqual(await eventsOf('gone'), []);
  });

  test(`${name}: a change of status is told once, and only of the revision that it is of`, async () => {
    const id = await makeReactor();
    const error = (revision: number) =>
      reactorEvent({
        id,
        revision,
        type: 'ACTOR_ERROR',
        status: 'ERROR',
        statusMessage: 'no image',
      });
    await one.write(
      ...error(1),
      once((db) => db.updateTable('reactors').set({ status: 'ERROR' }).where('id', '=', id)),
    );
    await one.write(...error(1));
    await one.write(...error(2));
    const [event, ...more] = await eventsOf(id);
    assert.deepEqual(more, []);
    assert.deepEqual([event?.type, event?.status_message], ['ACTOR_ERROR', 'no image']);
  });

  test(`${name}: executions that were dropped together are told of one by one, in their order`, async () => {
    const id = await makeReactor({ webhook: 'https://example.org/' });
    await one.write(...started(id));
    const now = 1_760_000_000_000_000;
    for (let seq = 1; seq <= 3; seq += 1) {
      const added = { id: `${id}x${seq}`, reactorId: id, ownerId: 'owner', seq };
      await addExecution(one, { ...added, status: 'ERROR', finishedAt: now });
    }
    await one.write(
      once((db) =>
        db.updateTable('executions').set({ status_message: 'purged' }).where('reactor_id', '=', id),
      ),
    );
    await one.write(...droppedEvents({ reactorId: id, message: 'purged', now }));
    await one.write(...droppedEvents({ reactorId: id, message: 'other', now }));
    const events = (await eventsOf(id)).slice(1);
    assert.deepEqual(
      events.map(({ execution_id }) => execution_id),
      [`${id}x1`, `${id}x2`, `${id}x3`],
    );
    assert.equal((await deliveriesOf(id)).length, 4);
  });

  test(`${name}: a delivery is taken by one process at a time, and what has to wait is overtaken`, async () => {
    const id = await makeReactor({ webhook: 'https://example.org/', link: 'other' });
    await one.write(...started(id, 'first'));
    await one.write(...started(id, 'second'));
    assert.equal((await deliveriesOf(id)).length, 4);
    const queue = `${id} webhook`;
    const queues = await queuesWithWork(other, 1000);
    assert.ok(queues.includes(queue) && queues.includes(`${id} link`));
    const now = Date.now() + 10;
    const taken = await Promise.all(
      [one, other, one, other].map((store) => takeFirst(store, queue, now, 1000)),
    );
    const [won, ...lost] = taken.filter((found) => found !== undefined);
    assert.deepEqual(lost, []);
    assert.equal(won?.event.execution_id, 'first');
    assert.equal(won.delivery.attempts, 1);
    // While it is under way nothing behind it goes; when its process is gone, somebody else takes it.
    assert.equal(await takeFirst(other, queue, now + 900, 1000), undefined);
    const again = await takeFirst(other, queue, now + 1001, 1000);
    assert.deepEqual([again?.delivery.id, again?.delivery.attempts], [won.delivery.id, 2]);
    const later = { id: won.delivery.id, code: 500, problem: 'no', nextAt: now + 60_000 };
    await other.write(tryAgainLater(later));
    const next = await takeFirst(one, queue, now + 1001, 1000);
    assert.equal(next?.event.execution_id, 'second');
    const ended = { status: 'DELIVERED', code: 200, problem: '', now } as const;
    await one.write(endDelivery({ id: next?.delivery.id ?? '', ...ended }));
    assert.equal(await takeFirst(one, queue, now + 2000, 1000), undefined);
    await one.write(expectRows(deliverAgain({ id: next?.delivery.id ?? '', now }), 1));
    assert.equal((await takeFirst(one, queue, now + 2000, 1000))?.delivery.attempts, 1);
  });

  test(`${name}: old events go, and their deliveries with them`, async () => {
    const id = await makeReactor({ webhook: 'https://example.org/' });
    await one.write(...started(id));
    while (await removeOldEvents(one, Date.now() - 3_600_000));
    assert.equal((await eventsOf(id)).length, 1);
    while (await removeOldEvents(one, Date.now() + 1));
    assert.deepEqual([await eventsOf(id), await deliveriesOf(id)], [[], []]);
  });
}
