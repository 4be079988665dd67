import { tmpdir } from 'node:os';
import { after, before } from 'node:test';
import { createDatabase, type PostgresServer, startPostgres } from '../../../../setup/postgres.ts';
import type { Ground } from '../store/conformance.ts';

/** Empty databases for the tests of a file, on the server that setup names, or on one of their own. */
export function postgresGrounds(): () => Promise<Ground> {
  let { REACTORD_TEST_POSTGRES: address } = process.env;
  let server: PostgresServer | undefined;
  before(async () => {
    if (address !== undefined) return;
    server = await startPostgres();
    address = server.url;
  });
  after(() => server?.stop());
  return async () => {
    const database = await createDatabase(address ?? '');
    return { database: database.url, dataFolder: tmpdir(), remove: () => database.drop() };
  };
}
