import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { createDatabase, type PostgresServer, startPostgres } from '../../../../setup/postgres.ts';
import { openStore } from '../../src/store/open.ts';
import { once } from '../../src/store/statement.ts';
import { StoreUnavailable } from '../../src/store/store-errors.ts';
import { insertThing, setWhole, suiteMigrations, thingIds } from './conformance-tables.ts';

describe('when the PostgreSQL server', () => {
  let server: PostgresServer;
  let database: string;
  before(async () => {
    server = await startPostgres();
    database = (await createDatabase(server.url)).url;
  });
  after(() => server.stop());

  const open = () => openStore({ database, dataFolder: tmpdir(), migrations: suiteMigrations });

  test('stops, everything is unavailable; when it is back, everything works', async () => {
    const store = await open();
    await store.write(insertThing({ id: 'before' }));
    await server.halt();
    await assert.rejects(store.write(insertThing({ id: 'during' })), StoreUnavailable);
    await assert.rejects(thingIds(store), StoreUnavailable);
    await assert.rejects(store.ping(), StoreUnavailable);
    await assert.rejects(open(), StoreUnavailable);
    await server.resume();
    await store.write(insertThing({ id: 'after' }));
    await store.ping();
    assert.deepEqual(await thingIds(store), ['after', 'before']);
    await store.close();
  });

  test('cuts the connection under a waiting write, that write is unavailable and the next works', async () => {
    const store = await open();
    await store.write(insertThing({ id: 'locked' }));
    const other = new pg.Client({ connectionString: database });
    await other.connect();
    await other.query('begin; lock table things in exclusive mode');
    const refused = assert.rejects(
      store.write(setWhole({ id: 'locked', whole: 1 })),
      StoreUnavailable,
    );
    await cutOffWaiting(other);
    await refused;
    await other.query('rollback');
    await other.end();
    const [{ rows }] = await store.write(setWhole({ id: 'locked', whole: 2 }));
    assert.deepEqual(rows, [{ id: 'locked', whole: 2 }]);
    await store.close();
  });

  test('lets another process win a fight for locks, the write is run again', async () => {
    const store = await open();
    await store.write(insertThing({ id: 'x' }), insertThing({ id: 'y' }));
    const other = new pg.Client({ connectionString: database });
    await other.connect();
    // The other side waits for so long that the store's connection is the one that finds the deadlock.
    await other.query(`set deadlock_timeout = '1min'`);
    await other.query(`begin; update things set whole = 1 where id = 'y'`);
    const unit = store.write(setWhole({ id: 'x', whole: 2 }), setWhole({ id: 'y', whole: 2 }));
    await waitUntilBlocked(other);
    await other.query(`update things set whole = 1 where id = 'x'; commit`);
    await unit;
    const { rows } = await other.query(
      `select id, whole from things where id in ('x', 'y') order by id`,
    );
    assert.deepEqual(rows, [
      { id: 'x', whole: '2' },
      { id: 'y', whole: '2' },
    ]);
    await other.end();
    await store.close();
  });

  test('commits asynchronously by default, the store asks for more', async () => {
    const admin = new pg.Client({ connectionString: database });
    await admin.connect();
    await admin.query(`alter system set synchronous_commit = off`);
    await admin.query('select pg_reload_conf()');
    const store = await open();
    const show = once<{ synchronous_commit: string }>(() => ({
      compile: () => CompiledQuery.raw('show synchronous_commit'),
    }));
    const [{ rows }] = await store.write(show);
    assert.deepEqual(rows, [{ synchronous_commit: 'on' }]);
    await admin.query('alter system reset synchronous_commit');
    await admin.query('select pg_reload_conf()');
    await admin.end();
    await store.close();
  });
});

/** Asks until the store's writer waits for a lock, and gives its process id. */
async function waitUntilBlocked(other: pg.Client): Promise<number> {
  for (;;) {
    const { rows } = await other.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'reactord' and wait_event_type = 'Lock'`,
    );
    if (rows[0] !== undefined) return rows[0].pid;
    // Within a transaction the server shows the same picture again unless told to look anew.
    await other.query('select pg_stat_clear_snapshot()');
  }
}

async function cutOffWaiting(other: pg.Client): Promise<void> {
  await other.query('select pg_terminate_backend($1)', [await waitUntilBlocked(other)]);
}
