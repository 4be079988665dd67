import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fail } from '../../src/errors.ts';
import { admit } from '../../src/executions/admit.ts';
import { newId } from '../../src/ids.ts';
import { type Due, Schedules } from '../../src/schedules/schedules.ts';
import { once, type Statement } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';
import { quiet } from '../harness/beside-service.ts';
import type { TwoStores } from '../harness/two-stores.ts';

/** What schedules do on every database. `openBoth` gives two processes' view of one store. */
export function testFiring(name: string, openBoth: () => Promise<TwoStores>): void {
  let one: Store;
  let other: Store;
  let close: () => Promise<void>;
  let now = Date.parse('2026-03-01T08:00Z');

  before(async () => {
    ({ one, other, close } = await openBoth());
  });
  after(() => close());

  const makeReactor = async (
    schedule: string,
    nextAt: string,
    status: 'READY' | 'SHUTTING_DOWN',
  ) => {
    const id = newId();
    await one.write(
      once((db) =>
        db.insertInto('reactors').values({
          id,
          owner_id: 'owner',
          image: 'image',
          stateless: 1,
          max_workers: 1,
          timeout: 60,
          log_ex: 60,
          token: 1,
          status,
          revision: 1,
          cron_schedule: schedule,
          cron_on: 1,
          cron_next_at: Date.parse(nextAt),
          cron_start_at: Date.parse(nextAt),
          created_at: 0,
          updated_at: 0,
        }),
      ),
    );
    return id;
  };

  const send = (store: Store) => async (due: Due, beside: Statement) => {
    const executor = { userId: 'owner', username: 'ada', clientId: null };
    const message = { contentType: 'str', body: Buffer.from('x') } as const;
    await admit(store, { reactorId: due.id, executor, message, environment: {} }, beside);
  };
  const schedules = (store: Store, sending = send(store)) =>
    new Schedules({ store, send: sending, log: quiet, now: () => now });

  const nextOf = async (id: string) => {
    const row = await one.read
      .selectFrom('reactors')
      .select(['cron_next_at', 'last_seq'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const next = row.cron_next_at === null ? null : new Date(row.cron_next_at).toISOString();
    return { fired: row.last_seq, next };
  };

  test(`${name}: two processes that look at once fire each time once`, async () => {
    const ids = [];
    for (let made = 0; made < 20; made += 1)
      ids.push(await makeReactor('*/5 * * * *', '2026-03-01T08:00Z', 'READY'));
    const looking = [one, other, one, other].map((store) => schedules(store).look());
    await Promise.all(looking);
    for (const id of ids)
      assert.deepEqual(await nextOf(id), { fired: 1, next: '2026-03-01T08:05:00.000Z' });
  });

  test(`${name}: times that passed while nobody looked are fired once`, async () => {
    const cron = await makeReactor('0 * * * *', '2026-02-20T00:00Z', 'READY');
    const interval = await makeReactor('now + 6 hours', '2026-02-20T01:00Z', 'READY');
    await schedules(one).look();
    await schedules(other).look();
    assert.deepEqual(await nextOf(cron), { fired: 1, next: '2026-03-01T09:00:00.000Z' });
    assert.deepEqual(await nextOf(interval), { fired: 1, next: '2026-03-01T13:00:00.000Z' });
  });

  test(`${name}: a reactor that is going fires nothing, and one that is not due waits`, async () => {
    const going = await makeReactor('0 * * * *', '2026-02-20T00:00Z', 'SHUTTING_DOWN');
    const later = await makeReactor('0 * * * *', '2026-03-01T09:00Z', 'READY');
    await schedules(one).look();
    assert.equal((await nextOf(going)).fired, 0);
    assert.deepEqual(await nextOf(later), { fired: 0, next: '2026-03-01T09:00:00.000Z' });
    now = Date.parse('2026-03-01T09:00:00Z');
    await schedules(one).look();
    assert.deepEqual(await nextOf(later), { fired: 1, next: '2026-03-01T10:00:00.000Z' });
    now = Date.parse('2026-03-01T08:00Z');
  });

  test(`${name}: a firing that is refused is left out, one that fails is made later`, async () => {
    const id = await makeReactor('0 * * * *', '2026-03-01T08:00Z', 'READY');
    const away = schedules(one, () => Promise.reject(new Error('the store is away')));
    await away.look();
    assert.deepEqual(await nextOf(id), { fired: 0, next: '2026-03-01T08:00:00.000Z' });
    const refusing = schedules(one, () => Promise.reject(fail('not_allowed', { problem: 'no' })));
    await refusing.look();
    assert.deepEqual(await nextOf(id), { fired: 0, next: '2026-03-01T09:00:00.000Z' });
  });
}
