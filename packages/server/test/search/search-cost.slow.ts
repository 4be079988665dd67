import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { createDatabase, startPostgres } from '../../../../setup/postgres.ts';
import { executionFields, searchExecutions } from '../../src/executions/execution-search.ts';
import { readWanted } from '../../src/filters/terms.ts';
import { risingBound } from '../../src/ids.ts';
import { reactorFields, searchReactors } from '../../src/reactors/reactor-search.ts';
import { sharedWith } from '../../src/reactors/visible-reactors.ts';
import { openStore } from '../../src/store/open.ts';
import { once } from '../../src/store/statement.ts';
import type { Store } from '../../src/store/store.ts';
import { addReactor } from '../executions/reactor-rows.ts';

/** What searches cost among many executions: the rare and the old are found as fast as the newest. */

const count = 50_000;
const start = Date.parse('2026-01-01T00:00Z');
const stores: { name: string; store: Store; close(): Promise<void> }[] = [];

before(async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), 'reactord-search-'));
  const sqlite = await openStore({ database: undefined, dataFolder });
  const { REACTORD_TEST_POSTGRES: given } = process.env;
  const server = given === undefined ? await startPostgres() : undefined;
  const database = await createDatabase(given ?? server?.url ?? '');
  const postgres = await openStore({ database: database.url, dataFolder });
  stores.push(
    {
      name: 'sqlite',
      store: sqlite,
      close: async () => {
        await sqlite.close();
        rmSync(dataFolder, { recursive: true });
      },
    },
    {
      name: 'postgres',
      store: postgres,
      close: async () => {
        await postgres.close();
        await database.drop();
        await server?.stop();
      },
    },
  );
  for (const { store } of stores) {
    await addReactor(store, 'many', 'owner');
    await addMany(store);
  }
  await sql`analyze`.execute(postgres.read);
});
after(async () => {
  for (const { close } of stores.toReversed()) await close();
});

/** One a second, in parts; each minute's first has its own id by the time, and one in 10,000 went wrong. */
async function addMany(store: Store): Promise<void> {
  const part = 10_000;
  for (let from = 0; from < count; from += part) {
    const rows = Array.from({ length: part }, (_, at) => {
      const seq = from + at + 1;
      const time = (start + seq * 1000) * 1000;
      const wrong = seq % 10_000 === 0;
      return sql`(${risingBound(start + seq * 1000)} || 'aaaaaa', 'many', 'owner', cast(${seq} as bigint), ${wrong ? 'ERROR' : 'COMPLETE'}, 'owner', 'ada', 'str', 1,
        cast(${time} as bigint), cast(${time} as bigint), cast(${seq % 12_000 === 0 ? 7 : 0} as bigint))`;
    });
    for (let at = 0; at < rows.length; at += 1000)
      await store.write(
        once((db) => ({
          compile: () =>
            sql`insert into executions (id, reactor_id, owner_id, seq, status, executor_id, executor, content_type,
              message_size, received_at, finished_at, exit_code) values ${sql.join(rows.slice(at, at + 1000))}`.compile(
              db,
            ),
        })),
      );
  }
}

const day = '2026-01-01T00';
const cases: readonly (readonly [string, Record<string, string>, number])[] = [
  ['what is in ERROR', { status: 'ERROR' }, 5],
  ['what failed', { 'exitCode.neq': '0' }, 4],
  ['what failed with a code', { exitCode: '7' }, 4],
  ['the oldest by time', { 'messageReceivedTime.between': `${day}:00:10Z,${day}:00:19Z` }, 10],
  ['the newest by time', { 'messageReceivedTime.gte': '2026-01-01T13:53:11Z' }, 10],
];

for (const [what, query, expected] of cases)
  test(`${what} is found as fast as the newest page`, async () => {
    for (const { name, store } of stores) {
      const search = async (asked: Record<string, string>, cursor?: string) => {
        const wanted = readWanted(asked, executionFields);
        const scope = { reactorId: 'many', ownerId: 'owner' };
        const begun = performance.now();
        const found = await searchExecutions(store, scope, wanted, {
          limit: 10,
          offset: 0,
          cursor,
        });
        return { found, took: performance.now() - begun };
      };
      const times: number[] = [];
      for (let round = 0; round < 9; round += 1) {
        const { found, took } = await search(query);
        assert.equal(found.rows.length, expected, name);
        times.push(took);
      }
      // The quickest of each: what else the machine does comes on top.
      const quickest = Math.min(...times);
      // What has no index is looked for in every row.
      const all: number[] = [];
      for (let round = 0; round < 3; round += 1)
        all.push((await search({ 'statusMessage.like': 'nowhere' })).took);
      const through = Math.min(...all);
      assert.ok(
        quickest < through / 2,
        `${name}: ${quickest.toFixed(1)} ms, everything ${through.toFixed(1)} ms`,
      );
    }
  });

test('the last page by cursor costs what the first one does', async () => {
  for (const { name, store } of stores) {
    const page = async (cursor?: string) => {
      const begun = performance.now();
      const wanted = readWanted({ status: 'COMPLETE' }, executionFields);
      const scope = { reactorId: 'many' };
      const found = await searchExecutions(store, scope, wanted, { limit: 10, offset: 0, cursor });
      return { rows: found.rows.length, took: performance.now() - begun };
    };
    const last = `${risingBound(start + 11_000)}aaaaaa`;
    const [near, far]: [number[], number[]] = [[], []];
    for (let round = 0; round < 9; round += 1) {
      near.push((await page()).took);
      const { rows, took } = await page(last);
      assert.equal(rows, 10);
      far.push(took);
    }
    const [first = 0, second = 0] = [near, far].map((all) => all.sort((a, b) => a - b)[4]);
    assert.ok(
      second < first * 2 + 2,
      `${name}: first ${first.toFixed(1)}, last ${second.toFixed(1)}`,
    );
  }
});

test('what others share costs no more on the last page than on the first', async () => {
  for (const { name, store } of stores) {
    await store.write(
      once((db) =>
        db.updateTable('reactors').set({ world_level: 'READ' }).where('id', '=', 'many'),
      ),
    );
    const shared = await sharedWith(store.read, 'guest');
    assert.deepEqual(shared, [{ ownerId: 'owner', reactorIds: ['many'] }], name);
    const page = async (cursor?: string) => {
      const begun = performance.now();
      const wanted = readWanted({ status: 'COMPLETE' }, executionFields);
      const scope = { ownerId: 'guest', shared };
      const found = await searchExecutions(store, scope, wanted, { limit: 10, offset: 0, cursor });
      assert.equal(found.rows.length, 10, name);
      return performance.now() - begun;
    };
    const [near, far]: [number[], number[]] = [[], []];
    for (let round = 0; round < 9; round += 1) {
      near.push(await page());
      far.push(await page(`${risingBound(start + 11_000)}aaaaaa`));
    }
    const [first = 0, second = 0] = [near, far].map((all) => all.sort((a, b) => a - b)[4]);
    assert.ok(
      second < first * 2 + 2,
      `${name}: first ${first.toFixed(1)}, last ${second.toFixed(1)}`,
    );
    const wanted = readWanted({ 'status.neq': 'ERROR' }, reactorFields);
    const everything = { limit: 10, offset: 0, cursor: undefined };
    const reactors = await searchReactors(store, 'guest', wanted, everything);
    assert.deepEqual([reactors.rows.map(({ id }) => id), reactors.counted], [['many'], 1], name);
  }
});
