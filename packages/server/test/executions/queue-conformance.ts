import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ServiceError } from '../../src/errors.ts';
import { admit } from '../../src/executions/admit.ts';
import {
  claim,
  claimedBy,
  markRunning,
  reactorsWithWork,
  releaseClaim,
} from '../../src/executions/claim.ts';
import type { Execution } from '../../src/executions/execution.ts';
import { ExecutionTokens } from '../../src/executions/execution-token.ts';
import { countWaiting, dropWaiting, peekWaiting } from '../../src/executions/waiting.ts';
import { AccessChanges } from '../../src/identity/access-changes.ts';
import { Users } from '../../src/identity/users.ts';
import { newId } from '../../src/ids.ts';
import { hashSecret } from '../../src/oauth/secret-format.ts';
import { once } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';
import { quiet } from '../harness/beside-service.ts';
import type { TwoStores } from '../harness/two-stores.ts';

/** What the queue of messages does on every database. `openBoth` gives two processes' view of one store. */
export function testQueue(name: string, openBoth: () => Promise<TwoStores>): void {
  let one: Store;
  let other: Store;
  let close: () => Promise<void>;

  before(async () => {
    ({ one, other, close } = await openBoth());
  });
  after(() => close());

  const makeReactor = async (maxWorkers = 1, status: 'READY' | 'SHUTTING_DOWN' = 'READY') => {
    const id = newId();
    await one.write(
      once((db) =>
        db.insertInto('reactors').values({
          id,
          owner_id: 'owner',
          image: 'image',
          stateless: 1,
          max_workers: maxWorkers,
          timeout: 60,
          log_ex: 60,
          token: 1,
          status,
          revision: 3,
          created_at: 0,
          updated_at: 0,
        }),
      ),
    );
    return id;
  };

  const post = (reactorId: string, store = one, text = 'hello'): Promise<string> =>
    admit(store, {
      reactorId,
      executor: { userId: 'user', username: 'ada', clientId: null },
      message: { contentType: 'str', body: Buffer.from(text) },
      environment: { A: '1' },
    });

  const begin = async (execution: Execution | undefined): Promise<void> => {
    assert.ok(execution !== undefined);
    await one.write(markRunning({ id: execution.id, workerId: execution.workerId ?? '', now: 1 }));
  };

  test(`${name}: messages that arrive together take places without gaps, in both processes`, async () => {
    const reactor = await makeReactor();
    await Promise.all(
      Array.from({ length: 200 }, (_, at) => post(reactor, at % 2 === 0 ? one : other)),
    );
    const rows = await one.read
      .selectFrom('executions')
      .select('seq')
      .where('reactor_id', '=', reactor)
      .orderBy('seq')
      .execute();
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      Array.from({ length: 200 }, (_, at) => at + 1),
    );
    assert.equal(await countWaiting(other, reactor), 200);
  });

  test(`${name}: a reactor that is not there, or is going, takes nothing`, async () => {
    const going = await makeReactor(1, 'SHUTTING_DOWN');
    for (const reactor of [going, 'nosuchreactor1']) {
      await assert.rejects(
        post(reactor),
        (error) => error instanceof ServiceError && error.status === 404,
      );
    }
    assert.equal(await countWaiting(one, going), 0);
  });

  test(`${name}: of many claims at once by two processes exactly one wins, and it is the oldest`, async () => {
    const reactor = await makeReactor(4);
    const posted = [await post(reactor), await post(reactor), await post(reactor)];
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, at) => claim(at % 2 === 0 ? one : other, reactor, 'here')),
    );
    const won = claims.filter((claimed) => claimed !== undefined);
    assert.deepEqual(
      won.map(({ id }) => id),
      [posted[0]],
    );
    assert.equal(won[0]?.revision, 3);
    assert.deepEqual(won[0]?.environment, { A: '1' });
    assert.equal(await countWaiting(one, reactor), 2);
  });

  test(`${name}: the next is claimed once the one before it runs, as long as there is room`, async () => {
    const reactor = await makeReactor(2);
    const posted = [await post(reactor), await post(reactor), await post(reactor)];
    await begin(await claim(one, reactor, 'here'));
    const second = await claim(other, reactor, 'there');
    assert.equal(second?.id, posted[1]);
    assert.equal(await claim(one, reactor, 'here'), undefined);
    await begin(second);
    assert.equal(await claim(one, reactor, 'here'), undefined);
  });

  test(`${name}: a claim names the spare that it took, and the next claim names its own or none`, async () => {
    const reactor = await makeReactor();
    await post(reactor);
    const worker = { id: newId() };
    const first = await claim(one, reactor, 'here', worker, { name: 'spare-1' });
    assert.equal(first?.spare, 'spare-1');
    assert.deepEqual(
      (await claimedBy(other, 'here'))
        .filter(({ id }) => id === first?.id)
        .map(({ spare }) => spare),
      ['spare-1'],
    );
    await one.write(releaseClaim({ id: first?.id ?? '', workerId: worker.id }));
    const second = await claim(other, reactor, 'there');
    assert.deepEqual([second?.id, second?.spare], [first?.id, null]);
  });

  test(`${name}: a claim with a spare gives its execution the token, and one that wins nothing gives none`, async () => {
    const reactor = await makeReactor();
    const user = await new Users(one, new AccessChanges(one, quiet)).create({
      username: `user-${newId()}`,
      password: 'a long enough word',
    });
    const tokens = await ExecutionTokens.open(one);
    const tokensOf = () =>
      other.read
        .selectFrom('access_tokens')
        .select('hash')
        .where('user_id', '=', user.id)
        .execute();
    const claimWith = (spare: string, store = one) =>
      claim(store, reactor, 'here', undefined, {
        name: spare,
        grant: tokens.grantWithClaim(reactor, spare, 60),
      });
    assert.equal(await claimWith('spare-2'), undefined);
    await admit(one, {
      reactorId: reactor,
      executor: { userId: user.id, username: user.username, clientId: null },
      message: { contentType: 'str', body: Buffer.from('x') },
      environment: {},
    });
    const [first, second] = await Promise.all([claimWith('spare-3'), claimWith('spare-4', other)]);
    const won = first ?? second;
    assert.ok(won && (first === undefined || second === undefined));
    assert.deepEqual(
      (await tokensOf()).map(({ hash }) => Buffer.from(hash)),
      [Buffer.from(hashSecret(tokens.of(won)))],
    );
    await one.write(tokens.end(won).statement);
    assert.deepEqual(await tokensOf(), []);
  });

  test(`${name}: a claim that is given back keeps its place before all that came later`, async () => {
    const reactor = await makeReactor();
    const posted = [await post(reactor), await post(reactor)];
    const first = await claim(one, reactor, 'here');
    await one.write(releaseClaim({ id: first?.id ?? '', workerId: first?.workerId ?? '' }));
    assert.equal((await claim(other, reactor, 'there'))?.id, posted[0]);
  });

  test(`${name}: a purge drops what waits at its moment, counts it, and leaves what is claimed`, async () => {
    const reactor = await makeReactor();
    const posted = [];
    for (let made = 0; made < 5; made += 1) posted.push(await post(reactor));
    await claim(one, reactor, 'here');
    const told: string[] = [];
    assert.equal(await dropWaiting(other, reactor, 'purged', (id) => told.push(id)), 4);
    assert.deepEqual(told.toSorted(), posted.slice(1).toSorted());
    assert.equal(await countWaiting(one, reactor), 0);
    const later = await post(reactor);
    assert.equal(await countWaiting(one, reactor), 1);
    assert.deepEqual(
      (await peekWaiting(one, reactor, 10)).map(({ executionId }) => executionId),
      [later],
    );
  });

  test(`${name}: the reactors with work are those that are ready and have something waiting`, async () => {
    const [idle, busy] = [await makeReactor(), await makeReactor()];
    await post(busy);
    const found = await reactorsWithWork(one);
    assert.ok(found.includes(busy));
    assert.ok(!found.includes(idle));
  });
}
