import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { conditionsOf } from '../../src/filters/conditions.ts';
import { readWanted } from '../../src/filters/terms.ts';
import { listReactors } from '../../src/reactors/reactor-list.ts';
import { reactorFields } from '../../src/reactors/reactor-search.ts';
import { visibleReactors } from '../../src/reactors/visible-reactors.ts';
import { once } from '../../src/store/statement.ts';
import { openOwnStore } from '../harness/own-store.ts';

const count = 60_000;

test('a page of own and shared reactors costs the same wherever it is', async () => {
  const { store, user, close } = await openOwnStore();
  try {
    // A third is ada's own, a third is shared with her, and of the rest every tenth is everyone's.
    await store.write(
      once((db) => ({
        compile: () =>
          sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
            insert into reactors (id, owner_id, image, stateless, max_workers, timeout, log_ex, token, status, revision,
              created_at, updated_at, world_level)
            select 'r' || i, case when i % 3 = 0 then ${user.id} else 'somebody' end, 'x', 1, 1, 60, 60, 0, 'READY', 1,
              i, i, case when i % 30 = 1 then 'READ' end from n`.compile(db),
      })),
      once((db) => ({
        compile: () =>
          sql`insert into reactor_permissions (reactor_id, user_id, level, reactor_created_at)
            select id, ${user.id}, 'READ', created_at from reactors where created_at % 3 = 2`.compile(
            db,
          ),
      })),
    );
    const page = async (after: { createdAt: number; id: string } | undefined) => {
      const start = performance.now();
      const found = await listReactors(store.read, {
        userId: user.id,
        limit: 100,
        offset: 0,
        after,
      });
      return { took: performance.now() - start, found };
    };
    const [near, far]: [number[], number[]] = [[], []];
    for (let round = 0; round < 15; round += 1) {
      const first = await page(undefined);
      const last = await page({ createdAt: 150, id: 'r150' });
      near.push(first.took);
      far.push(last.took);
      assert.deepEqual([first.found.length, last.found.length], [100, 100]);
      assert.deepEqual(
        first.found.slice(0, 3).map(({ id }) => id),
        ['r60000', 'r59999', 'r59997'],
      );
    }
    const [first, last] = [median(near), median(far)];
    assert.ok(last < first * 2 + 2, `first ${first.toFixed(1)} ms, last ${last.toFixed(1)} ms`);
    assert.ok(first < 50, `a page takes ${first.toFixed(1)} ms`);
    // Search goes through the same three lists, with conditions.
    const conditions = conditionsOf(readWanted({ status: 'READY' }, reactorFields), reactorFields);
    const search = async (after: { createdAt: number; id: string } | undefined) => {
      const start = performance.now();
      const found = await store.read
        .selectFrom(
          visibleReactors(store.read, { userId: user.id, conditions, after, reach: 101 }).as('all'),
        )
        .select('id')
        .orderBy('created_at', 'desc')
        .limit(101)
        .execute();
      return { took: performance.now() - start, found };
    };
    const [begin, end]: [number[], number[]] = [[], []];
    for (let round = 0; round < 9; round += 1) {
      const newest = await search(undefined);
      const oldest = await search({ createdAt: 150, id: 'r150' });
      assert.equal(newest.found.length, 101);
      assert.deepEqual(
        oldest.found.slice(0, 3).map(({ id }) => id),
        ['r149', 'r147', 'r146'],
      );
      begin.push(newest.took);
      end.push(oldest.took);
    }
    assert.ok(
      median(end) < median(begin) * 2 + 2,
      `search: first ${median(begin).toFixed(1)} ms, last ${median(end).toFixed(1)} ms`,
    );
  } finally {
    await close();
  }
});

const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
