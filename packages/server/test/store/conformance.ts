import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once as onceEmitted } from 'node:events';
import { createInterface } from 'node:readline';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { migrations } from '../../src/store/migrations/index.ts';
import { openStore, type StoreOptions } from '../../src/store/open.ts';
import { expectRows, once, prepared } from '../../src/store/statement.ts';
import type { Dialect, Store } from '../../src/store/store.ts';
import {
  ForeignKeyViolation,
  NotNullViolation,
  SchemaTooNew,
  StatementFailed,
  StoreUnavailable,
  UnexpectedRows,
  UniqueViolation,
  UnstorableValue,
} from '../../src/store/store-errors.ts';
import {
  deleteThing,
  insertLabel,
  insertPart,
  insertThing,
  insertThings,
  type SuiteTables,
  setWhole,
  suiteMigrations,
  thingIds,
} from './conformance-tables.ts';

/** An empty database of the kind under test. */
export interface Ground {
  readonly database: string | undefined;
  readonly dataFolder: string;
  remove(): Promise<void>;
}

/** What every driver of the store must do. A new one is done when this passes. */
export function conformance(dialect: Dialect, newGround: () => Promise<Ground>): void {
  describe(`the store on ${dialect}`, () => {
    migrating(newGround);
    writing(newGround);
    failing(newGround);
    keeping(newGround);
    surviving(newGround);
  });
}

const known = migrations.map(({ number }) => number);

function migrating(newGround: () => Promise<Ground>): void {
  describe('brings the schema up to date', () => {
    let ground: Ground;
    beforeEach(async () => {
      ground = await newGround();
    });
    afterEach(() => ground.remove());

    test('a fresh database gets every table', async () => {
      const store = await open(ground, { migrations });
      assert.deepEqual(await store.read.selectFrom('users').selectAll().execute(), []);
      assert.deepEqual(await applied(store), known);
      await store.close();
    });

    test('a second start changes nothing', async () => {
      for (let start = 0; start < 2; start += 1) {
        const store = await open(ground);
        assert.deepEqual(await applied(store), [...known, 9001]);
        await store.close();
      }
    });

    test('an older database gets only what it lacks, and keeps its rows', async () => {
      const older = await open(ground, { migrations });
      await older.write(insertUser({ id: 'u', uid: 1, username: 'ada' }));
      await older.close();
      const newer = await open(ground);
      assert.deepEqual(await applied(newer), [...known, 9001]);
      assert.equal((await newer.read.selectFrom('users').select('id').execute()).length, 1);
      await newer.close();
    });

    test('two processes that start at once both come up', async () => {
      const outputs = await Promise.all([
        output(child('open', ground)),
        output(child('open', ground)),
      ]);
      const upToDate = { code: 0, text: `${known.length + 1}\n` };
      assert.deepEqual(outputs, [upToDate, upToDate]);
    });

    test('a schema newer than the code is refused with both numbers', async () => {
      await (await open(ground)).close();
      await assert.rejects(open(ground, { migrations }), (error) => {
        assert.ok(error instanceof SchemaTooNew);
        assert.equal(error.found, 9001);
        assert.equal(error.known, known.at(-1));
        assert.match(
          error.message,
          new RegExp(`9001.* ${known.at(-1)}\\. Start the newer version`),
        );
        return true;
      });
    });

    test('a process killed in the middle leaves nothing, and the next start goes on', async () => {
      await (await open(ground, { migrations })).close();
      const dying = child('die', ground);
      const [, signal] = await onceEmitted(dying, 'exit');
      assert.equal(signal, 'SIGKILL');
      const store = await open(ground);
      assert.deepEqual(await applied(store), [...known, 9001]);
      await assert.rejects(sql`select * from half_made`.execute(store.read), StatementFailed);
      await store.close();
    });
  });
}

function writing(newGround: () => Promise<Ground>): void {
  describe('writes', () => {
    const commits: number[] = [];
    const { store } = openedStore(newGround, { onCommit: (units) => commits.push(units) });

    test('what a write resolved is read at once', async () => {
      await store().write(insertThing({ id: 'read-your-write' }));
      assert.ok((await thingIds(store())).includes('read-your-write'));
    });

    test('a write gives the returned rows and the affected count of each statement', async () => {
      const results = await store().write(
        insertThings([{ id: 'r1' }, { id: 'r2' }]),
        setWhole({ id: 'r1', whole: 7 }),
        deleteThing({ id: 'nobody' }),
      );
      assert.deepEqual(results, [
        { rows: [], affected: 2 },
        { rows: [{ id: 'r1', whole: 7 }], affected: 1 },
        { rows: [], affected: 0 },
      ]);
    });

    test('a unit of which one statement fails leaves nothing', async () => {
      await store().write(insertThing({ id: 'taken' }));
      const before = await thingIds(store());
      await assert.rejects(
        store().write(insertThing({ id: 'first' }), insertThing({ id: 'taken' })),
        UniqueViolation,
      );
      assert.deepEqual(await thingIds(store()), before);
    });

    test('a failing unit does not take the others of its commit with it', async () => {
      await store().write(insertThing({ id: 'shared-taken' }));
      commits.length = 0;
      const units = Array.from({ length: 20 }, (_, place) => {
        if (place === 5) return store().write(insertThing({ id: 'shared-taken' }));
        if (place === 10) {
          const lost = insertThing({ id: 'shared-lost' });
          return store().write(lost, expectRows(setWhole({ id: 'nobody', whole: 1 }), 1));
        }
        return store().write(insertThing({ id: `shared-${place}` }));
      });
      const settled = await Promise.allSettled(units);
      const failed = settled.flatMap(({ status }, place) => (status === 'rejected' ? [place] : []));
      assert.deepEqual(failed, [5, 10]);
      assert.deepEqual(commits, [20]);
      const ids = await thingIds(store());
      assert.equal(ids.filter((id) => /^shared-\d+$/.test(id)).length, 18);
      assert.ok(!ids.includes('shared-lost'));
    });

    test('a statement that the database cannot understand fails its unit alone', async () => {
      const nonsense = once((db) =>
        db.withTables<{ nowhere: { id: string } }>().deleteFrom('nowhere'),
      );
      const [bad, good] = await Promise.allSettled([
        store().write(nonsense),
        store().write(insertThing({ id: 'beside-nonsense' })),
      ]);
      assert.ok(bad.status === 'rejected' && bad.reason instanceof StatementFailed);
      assert.equal(good.status, 'fulfilled');
    });

    test('units are applied in the order in which they were asked for', async () => {
      await store().write(insertThing({ id: 'ordered' }));
      const writes = Array.from({ length: 500 }, (_, whole) =>
        store().write(setWhole({ id: 'ordered', whole })),
      );
      const seen: number[] = [];
      await Promise.all(writes.map((write, place) => write.then(() => seen.push(place))));
      assert.deepEqual(seen, [...seen.keys()]);
      const [{ rows }] = await store().write(wholeOf({ id: 'ordered' }));
      assert.deepEqual(rows, [{ whole: 499 }]);
    });

    test('1,000 writes at once share few commits', async () => {
      commits.length = 0;
      await Promise.all(
        Array.from({ length: 1000 }, (_, place) =>
          store().write(insertThing({ id: `crowd-${place}` })),
        ),
      );
      const ids = await thingIds(store());
      assert.equal(ids.filter((id) => id.startsWith('crowd-')).length, 1000);
      assert.equal(
        commits.reduce((sum, units) => sum + units, 0),
        1000,
      );
      assert.ok(commits.length <= 20, `${commits.length} commits`);
    });

    test('a statement defined without values, and a constant in a definition, work', async () => {
      const constant = prepared((db) =>
        db.withTables<SuiteTables>().insertInto('things').values({ id: 'constant', whole: 3 }),
      );
      assert.deepEqual(await store().write(constant()), [{ rows: [], affected: 1 }]);
    });

    test('the read side refuses transactions', async () => {
      const transaction = store().read.transaction();
      await assert.rejects(
        transaction.execute((db) => db.selectFrom('users').selectAll().execute()),
        /no transactions/,
      );
    });

    test('the read side cannot write', async () => {
      await assert.rejects(store().read.deleteFrom('users').execute());
    });
  });
}

function failing(newGround: () => Promise<Ground>): void {
  describe('names what went wrong', () => {
    const { store } = openedStore(newGround);

    const unique = async (write: Promise<unknown>, table: string, columns: string[]) => {
      await assert.rejects(write, (error) => {
        assert.ok(error instanceof UniqueViolation);
        assert.deepEqual({ table: error.table, columns: error.columns }, { table, columns });
        return true;
      });
    };

    test('a taken primary key', async () => {
      await store().write(insertThing({ id: 'key' }));
      await unique(store().write(insertThing({ id: 'key' })), 'things', ['id']);
    });

    test('a taken number in a unique column', async () => {
      await store().write(insertUser({ id: 'u1', uid: 1, username: 'grace' }));
      await unique(store().write(insertUser({ id: 'u2', uid: 1, username: 'hedy' })), 'users', [
        'uid',
      ]);
    });

    test('a taken pair in a unique constraint over two columns', async () => {
      await store().write(insertThing({ id: 'owner' }));
      const place = { thing: 'owner', shelf: 'left', place: 1 };
      await store().write(insertPart({ id: 'p1', ...place }));
      await unique(store().write(insertPart({ id: 'p2', ...place })), 'parts', ['shelf', 'place']);
    });

    test('a taken value of a unique expression', async () => {
      await store().write(insertLabel({ label: 'Same' }));
      await unique(store().write(insertLabel({ label: 'same' })), 'labels', []);
    });

    test('a row that points to nothing', async () => {
      const part = insertPart({ id: 'orphan', thing: 'nobody', shelf: 'a', place: 1 });
      await assert.rejects(store().write(part), ForeignKeyViolation);
    });

    test('a row without a value that it needs', async () => {
      await store().write(insertThing({ id: 'whole' }));
      const shelf = sql<string>`(select note from things where id = 'whole')`;
      const part = once((db) =>
        db
          .withTables<SuiteTables>()
          .insertInto('parts')
          .values({ id: 'without', thing: 'whole', shelf, place: 1 }),
      );
      await assert.rejects(store().write(part), NotNullViolation);
    });

    test('a row that others point to and that is to go', async () => {
      await store().write(
        insertThing({ id: 'needed' }),
        insertPart({ id: 'needs', thing: 'needed', shelf: 'b', place: 1 }),
      );
      await assert.rejects(store().write(deleteThing({ id: 'needed' })), ForeignKeyViolation);
    });

    test('another number of rows than expected, and the unit is undone', async () => {
      const unit = store().write(
        insertThing({ id: 'undone' }),
        expectRows(deleteThing({ id: 'nobody' }), 1),
      );
      await assert.rejects(unit, (error) => {
        assert.ok(error instanceof UnexpectedRows);
        const { statement, expected, actual } = error;
        assert.deepEqual({ statement, expected, actual }, { statement: 1, expected: 1, actual: 0 });
        return true;
      });
      assert.ok(!(await thingIds(store())).includes('undone'));
    });

    test('a single statement that changed more rows than expected is undone', async () => {
      await store().write(insertThings([{ id: 'm1' }, { id: 'm2' }]));
      const both = once((db) =>
        db.withTables<SuiteTables>().deleteFrom('things').where('id', 'in', ['m1', 'm2']),
      );
      await assert.rejects(store().write(expectRows(both, 1)), UnexpectedRows);
      const ids = await thingIds(store());
      assert.ok(ids.includes('m1') && ids.includes('m2'));
      await store().write(expectRows(both, 2));
    });

    test('a value of the wrong kind', async () => {
      await assert.rejects(
        store().write(insertThings([{ id: 'real', whole: 1.5 }])),
        StatementFailed,
      );
    });

    for (const [what, note] of [
      ['a text with NUL', 'a\0b'],
      ['half a surrogate pair', 'a\ud800b'],
    ] as const) {
      test(`${what}, which one of the databases could not keep`, async () => {
        await assert.rejects(store().write(insertThings([{ id: 'text', note }])), UnstorableValue);
        await assert.rejects(
          store().read.selectFrom('users').select('id').where('id', '=', note).execute(),
          UnstorableValue,
        );
      });
    }

    test('a number that is none', async () => {
      await assert.rejects(
        store().write(insertThings([{ id: 'nan', whole: Number.NaN }])),
        UnstorableValue,
      );
    });

    test('a query on a table that is not there', async () => {
      await assert.rejects(sql`select * from nowhere`.execute(store().read), StatementFailed);
    });
  });
}

function keeping(newGround: () => Promise<Ground>): void {
  describe('gives back what it was given', () => {
    const { store } = openedStore(newGround);

    const things: SuiteTables['things'][] = [
      { id: 'nulls', whole: null, bytes: null, note: null },
      { id: 'empty', whole: 0, bytes: new Uint8Array(), note: '' },
      {
        id: 'largest',
        whole: Number.MAX_SAFE_INTEGER,
        bytes: new Uint8Array([0, 255, 0, 92, 120]),
        note: 'ä€😀 \u202e \uffff \t\r\n \'"\\ %_',
      },
      { id: 'smallest', whole: Number.MIN_SAFE_INTEGER, bytes: null, note: '\u0001' },
      { id: 'a view', whole: 1, bytes: Buffer.from('xviewx').subarray(1, 5), note: null },
      { id: 'much', whole: -1, bytes: new Uint8Array(3_000_000).fill(7), note: 'é'.repeat(1e6) },
    ];
    for (const thing of things) {
      test(`the thing "${thing.id}"`, async () => {
        const [{ rows }] = await store().write(returnThing(thing));
        const bytes = thing.bytes === null ? null : new Uint8Array(thing.bytes);
        assert.deepEqual(rows, [{ ...thing, bytes }]);
        const read = await store()
          .read.withTables<SuiteTables>()
          .selectFrom('things')
          .selectAll()
          .where('id', '=', thing.id)
          .execute();
        assert.deepEqual(read, [{ ...thing, bytes }]);
      });
    }

    test('counts and sums as numbers', async () => {
      const found = await store()
        .read.withTables<SuiteTables>()
        .selectFrom('things')
        .where('id', 'in', ['empty', 'a view'])
        .select(({ fn }) => [fn.countAll().as('count'), fn.sum('whole').as('sum')])
        .execute();
      assert.deepEqual(found, [{ count: 2, sum: 1 }]);
    });

    test('an integer too large to be exact is refused and not rounded', async () => {
      await assert.rejects(
        sql`select 9223372036854775807 as whole`.execute(store().read),
        StatementFailed,
      );
    });

    test('text in the order of its bytes', async () => {
      const ids = await thingIds(store());
      assert.deepEqual(ids, ids.toSorted());
    });
  });
}

function surviving(newGround: () => Promise<Ground>): void {
  describe('survives', () => {
    let ground: Ground;
    before(async () => {
      ground = await newGround();
    });
    after(() => ground.remove());

    test('kill -9 in the middle of writing: every acknowledged row is there', async () => {
      const writer = child('write', ground);
      const acknowledged: string[] = [];
      const lines = createInterface({ input: writer.stdout ?? process.stdin });
      lines.on('line', (id) => {
        acknowledged.push(id);
        if (acknowledged.length === 2000) writer.kill('SIGKILL');
      });
      await Promise.all([onceEmitted(writer, 'exit'), onceEmitted(lines, 'close')]);
      assert.ok(acknowledged.length >= 2000);
      const store = await open(ground);
      const ids = new Set(await thingIds(store));
      assert.deepEqual(
        acknowledged.filter((id) => !ids.has(id)),
        [],
      );
      await store.close();
    });

    test('close lets pending writes finish, and refuses later ones', async () => {
      const store = await open(ground);
      const writes = Array.from({ length: 300 }, (_, place) =>
        store.write(insertThing({ id: `pending-${place}` })),
      );
      const closed = store.close();
      await assert.rejects(store.write(insertThing({ id: 'late' })), StoreUnavailable);
      await Promise.all([...writes, closed]);
      await assert.rejects(store.ping(), StoreUnavailable);
      const again = await open(ground);
      const ids = await thingIds(again);
      assert.equal(ids.filter((id) => id.startsWith('pending-')).length, 300);
      assert.ok(!ids.includes('late'));
      await again.close();
      await again.close();
    });
  });
}

const insertUser = prepared((db, p: { id: string; uid: number; username: string }) =>
  db.insertInto('users').values({
    id: p.id,
    uid: p.uid,
    username: p.username,
    password_hash: 'none',
    password_changed_at: 1,
    created_at: 1,
    updated_at: 1,
  }),
);

const wholeOf = prepared((db, p: { id: string }) =>
  db.withTables<SuiteTables>().selectFrom('things').select('whole').where('id', '=', p.id),
);

function returnThing(thing: SuiteTables['things']) {
  return once((db) =>
    db.withTables<SuiteTables>().insertInto('things').values(thing).returningAll(),
  );
}

function open(ground: Ground, options: Partial<StoreOptions> = {}): Promise<Store> {
  const { database, dataFolder } = ground;
  return openStore({ database, dataFolder, migrations: suiteMigrations, ...options });
}

/** One store for all tests of a group. */
function openedStore(newGround: () => Promise<Ground>, options: Partial<StoreOptions> = {}) {
  let opened: { ground: Ground; store: Store } | undefined;
  before(async () => {
    const ground = await newGround();
    opened = { ground, store: await open(ground, options) };
  });
  after(async () => {
    await opened?.store.close();
    await opened?.ground.remove();
  });
  return {
    store(): Store {
      assert.ok(opened !== undefined);
      return opened.store;
    },
  };
}

async function applied(store: Store): Promise<number[]> {
  const { rows } = await sql<{ number: number }>`select number from schema_migrations`.execute(
    store.read,
  );
  return rows.map(({ number }) => number).sort((a, b) => a - b);
}

function child(command: string, { database, dataFolder }: Ground): ChildProcess {
  const script = fileURLToPath(new URL('./store-child.ts', import.meta.url));
  return spawn(process.execPath, [script, command, database ?? '', dataFolder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function output(process: ChildProcess): Promise<{ code: number | null; text: string }> {
  let text = '';
  process.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await onceEmitted(process, 'close');
  return { code: process.exitCode, text };
}
