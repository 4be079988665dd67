import { writeSync } from 'node:fs';
import { sql } from 'kysely';
import type { Migration } from '../../src/store/migrations/migration.ts';
import { openStore } from '../../src/store/open.ts';
import { insertThing, suiteMigrations } from './conformance-tables.ts';

/** A process of its own for the suite, to start twice at once or to kill. */
const [command, database, dataFolder = ''] = process.argv.slice(2);

const deadly: Migration = {
  number: 9002,
  name: 'deadly',
  async up(schema, types) {
    await schema
      .createTable('half_made')
      .addColumn('id', types.text)
      .modifyEnd(types.tableEnd)
      .execute();
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => undefined);
  },
};

const migrations = command === 'die' ? [...suiteMigrations, deadly] : suiteMigrations;
const store = await openStore({ database, dataFolder, migrations });

if (command === 'write') {
  let made = 0;
  const caller = async () => {
    for (;;) {
      made += 1;
      const id = `${process.pid}-${made}`;
      await store.write(insertThing({ id }));
      say(id);
    }
  };
  await Promise.all(Array.from({ length: 32 }, caller));
}

const found = await sql`select number from schema_migrations`.execute(store.read);
say(String(found.rows.length));
await store.close();

/** At once, so that nothing said is lost with the process; a reader that is behind is waited for. */
function say(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
