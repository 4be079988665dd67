import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, startPostgres } from '../../../../setup/postgres.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';

/** Two processes on one database, as far as the database can tell. */
export interface TwoStores {
  readonly one: Store;
  readonly other: Store;
  close(): Promise<void>;
}

export async function twoOnSqlite(): Promise<TwoStores> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'reactord-stores-'));
  const options = { database: undefined, dataFolder };
  return openTwo(options, async () => rmSync(dataFolder, { recursive: true }));
}

export async function twoOnPostgres(): Promise<TwoStores> {
  const { REACTORD_TEST_POSTGRES: given } = process.env;
  const server = given === undefined ? await startPostgres() : undefined;
  const database = await createDatabase(given ?? server?.url ?? '');
  return openTwo({ database: database.url, dataFolder: tmpdir() }, async () => {
    await database.drop();
    await server?.stop();
  });
}

async function openTwo(
  options: Parameters<typeof openStore>[0],
  clear: () => Promise<void>,
): Promise<TwoStores> {
  const one = await openStore(options);
  const other = await openStore(options);
  return {
    one,
    other,
    close: async () => {
      await one.close();
      await other.close();
      await clear();
    },
  };
}
