import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { migrations } from './migrations/index.ts';
import { translate as translatePostgres } from './postgres/failure.ts';
import { session } from './postgres/session.ts';
import { translate as translateSqlite } from './sqlite/failure.ts';
import { SchemaTooNew } from './store-errors.ts';

/** What a look at the database tells, without changing anything in it. */
export interface StoreLook {
  readonly kind: 'sqlite' | 'postgres';
  /** Undefined: there is none yet. */
  readonly schema: number | undefined;
  /** In bytes; of SQLite only. */
  readonly size?: number;
  /** The server's version; of PostgreSQL only. */
  readonly version?: string;
  /** How far the server's clock is ahead of this machine's, in milliseconds; of PostgreSQL only. */
  readonly aheadMs?: number;
}

const newestSchema = migrations.at(-1)?.number ?? 0;

/** Throws a StoreError when the database cannot be used, or is newer than this version. */
export async function lookAtStore(database: string): Promise<StoreLook> {
  const look = /^postgres(ql)?:\/\//i.test(database)
    ? await lookAtPostgres(database)
    : lookAtSqlite(database);
  if (look.schema !== undefined && look.schema > newestSchema)
    throw new SchemaTooNew(look.schema, newestSchema);
  return look;
}

function lookAtSqlite(file: string): StoreLook {
  if (!existsSync(file)) return { kind: 'sqlite', schema: undefined };
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    try {
      const found = db.prepare('select max(number) as number from schema_migrations').get();
      const size = statSync(file).size;
      return { kind: 'sqlite', schema: Number(found?.['number'] ?? 0), size };
    } finally {
      db.close();
    }
  } catch (error) {
    throw translateSqlite(error);
  }
}

async function lookAtPostgres(url: string): Promise<StoreLook> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ ...session(url), connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const asked = Date.now();
    const now = await client.query<{ at: string; version: string }>(
      "select extract(epoch from clock_timestamp()) * 1000 as at, current_setting('server_version') as version",
    );
    // Half of the way there and back is behind us when the server looks at its clock.
    const between = (asked + Date.now()) / 2;
    const row = now.rows[0];
    const ledger = await client.query<{ there: string | null }>(
      "select to_regclass('schema_migrations') as there",
    );
    const schema =
      ledger.rows[0]?.there == null
        ? undefined
        : (
            await client.query<{ number: string | null }>(
              'select max(number) as number from schema_migrations',
            )
          ).rows[0]?.number;
    return {
      kind: 'postgres',
      schema: schema === undefined ? undefined : Number(schema ?? 0),
      version: row?.version ?? '',
      aheadMs: Number(row?.at ?? between) - between,
    };
  } catch (error) {
    throw translatePostgres(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}
