import { tmpdir } from 'node:os';
import { after, before } from 'node:test';
import { createDatabase, type PostgresServer, startPostgres } from '../../../../setup/postgres.ts';
import { followConformance } from './follow-conformance.ts';

let { REACTORD_TEST_POSTGRES: admin } = process.env;
let server: PostgresServer | undefined;

before(async () => {
  if (admin !== undefined) return;
  server = await startPostgres();
  admin = server.url;
});
after(() => server?.stop());

followConformance('postgres', async () => {
  const database = await createDatabase(admin ?? '');
  return { database: database.url, dataFolder: tmpdir(), remove: () => database.drop() };
});
