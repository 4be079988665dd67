import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { CompiledQuery, sql } from 'kysely';
import { openStore } from '../../src/store/open.ts';
import { once } from '../../src/store/statement.ts';
import { StoreUnavailable } from '../../src/store/store-errors.ts';
import { insertThing, insertThings, suiteMigrations, thingIds } from './conformance-tables.ts';

describe('the SQLite file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reactord-store-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const open = (dataFolder = folder) =>
    openStore({ database: undefined, dataFolder, migrations: suiteMigrations });

  test('is reactord.db in the data folder, for its owner only', async () => {
    const data = join(folder, 'made', 'on the way');
    const store = await open(data);
    await store.write(insertThing({ id: 'a' }));
    for (const name of ['reactord.db', 'reactord.db-wal', 'reactord.db-shm']) {
      assert.equal((await stat(join(data, name))).mode & 0o777, 0o600, name);
    }
    assert.equal((await stat(data)).mode & 0o777, 0o700);
    await store.close();
  });

  test('holds everything by itself after close', async () => {
    const store = await open();
    await store.write(insertThing({ id: 'a' }));
    await store.close();
    await assert.rejects(stat(join(folder, 'reactord.db-wal')), { code: 'ENOENT' });
  });

  test('has only tables whose column types are binding', async () => {
    const store = await open();
    const { rows } = await sql`
      select name from pragma_table_list
      where type = 'table' and name not like 'sqlite_%' and strict = 0`.execute(store.read);
    assert.deepEqual(rows, []);
    await store.close();
  });

  test('on a full disk refuses the write, keeps the rest, and works again with room', async () => {
    const store = await open();
    await store.write(insertThing({ id: 'before' }));
    const limit = (pages: number) =>
      once(() => ({ compile: () => CompiledQuery.raw(`PRAGMA max_page_count = ${pages}`) }));
    await store.write(limit(1));
    const large = insertThings([{ id: 'large', bytes: new Uint8Array(1_000_000) }]);
    await assert.rejects(store.write(large), StoreUnavailable);
    await store.write(limit(1_000_000));
    await store.write(large);
    assert.deepEqual(await thingIds(store), ['before', 'large']);
    await store.close();
  });

  test('whose writer thread dies refuses what is pending and what comes later', async () => {
    const started = new Promise<Worker>((resolve) => process.once('worker', resolve));
    const store = await open();
    const worker = await started;
    // Another process holds the file, so the write is certainly still pending when the thread is told to die.
    const other = new DatabaseSync(join(folder, 'reactord.db'));
    other.exec('BEGIN IMMEDIATE');
    const pending = assert.rejects(store.write(insertThing({ id: 'a' })), StoreUnavailable);
    await new Promise((resolve) => setImmediate(resolve));
    const died = worker.terminate();
    other.close();
    await died;
    await pending;
    await assert.rejects(store.write(insertThing({ id: 'b' })), StoreUnavailable);
    await assert.rejects(store.ping(), StoreUnavailable);
    await store.close();
  });

  test('that is none is refused', async () => {
    await writeFile(join(folder, 'reactord.db'), 'This is a letter and not a database.'.repeat(50));
    await assert.rejects(open(), StoreUnavailable);
  });

  test('in a place where none can be made is refused', async () => {
    await writeFile(join(folder, 'a file'), '');
    await assert.rejects(open(join(folder, 'a file')), StoreUnavailable);
  });
});
