import { tmpdir } from 'node:os';
import { createDatabase, startPostgres } from '../../../../setup/postgres.ts';
import { openStore } from '../../src/store/open.ts';
import { testOutbox } from './outbox-conformance.ts';

testOutbox('postgres', async () => {
  const { REACTORD_TEST_POSTGRES: given } = process.env;
  const server = given === undefined ? await startPostgres() : undefined;
  const database = await createDatabase(given ?? server?.url ?? '');
  const options = { database: database.url, dataFolder: tmpdir() };
  const one = await openStore(options);
  const other = await openStore(options);
  return {
    one,
    other,
    close: async () => {
      await one.close();
      await other.close();
      await database.drop();
      await server?.stop();
    },
  };
});
