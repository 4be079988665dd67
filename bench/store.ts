import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { openStore } from '../packages/server/src/store/open.ts';
import { prepared } from '../packages/server/src/store/statement.ts';
import type { Store } from '../packages/server/src/store/store.ts';
import { createDatabase, startPostgres } from '../setup/postgres.ts';
import type { BenchResult, BenchRow } from './bench-result.ts';

const sqliteRounds = 15;
const postgresRounds = 5;
const alone = 1_500;
const shared = 25_600;
const callers = 256;
const body = JSON.stringify({ sample: 'x'.repeat(180) });

/** A message like those of the service, in a table that both sides have. */
interface Message {
  id: string;
  username: string;
  now: number;
  body: string;
}

const insert = prepared((db, p: { id: string; username: string; body: string; now: number }) =>
  db.insertInto('users').values({
    id: p.id,
    uid: p.now,
    username: p.username,
    password_hash: p.body,
    password_changed_at: p.now,
    created_at: p.now,
    updated_at: p.now,
  }),
);

let made = 0;
function message(): Message {
  made += 1;
  // Rising, as the ids of the service are.
  const id = made.toString(36).padStart(12, '0');
  return { id, username: id, body, now: made };
}

export async function run(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'reactord-bench-'));
  try {
    const rows = [...(await benchSqlite(folder)), ...(await benchPostgres(folder))];
    return {
      title: `Store: messages kept per second, medians of ${sqliteRounds} rounds (SQLite) and ${postgresRounds} (PostgreSQL)`,
      rows,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function benchSqlite(folder: string): Promise<BenchRow[]> {
  const commits = new CommitCounter();
  const store = await openStore({
    database: join(folder, 'ours.db'),
    dataFolder: folder,
    onCommit: commits.count,
  });
  const bare = await BareSqlite.open(join(folder, 'bare.db'));
  const rates = await interleave(sqliteRounds, store, commits, (count, perCommit) =>
    Promise.resolve(bare.write(count, perCommit)),
  );
  bare.close();
  await store.close();
  return rowsFrom('SQLite', 'bare node:sqlite', rates, 0.5, 0.8);
}

async function benchPostgres(folder: string): Promise<BenchRow[]> {
  const server = await startPostgres();
  try {
    const database = await createDatabase(server.url);
    const commits = new CommitCounter();
    const store = await openStore({
      database: database.url,
      dataFolder: folder,
      onCommit: commits.count,
    });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const rates = await interleave(postgresRounds, store, commits, (count, perCommit) =>
      writeBarePostgres(client, count, perCommit),
    );
    await client.end();
    await store.close();
    return rowsFrom('PostgreSQL', 'bare pg', rates, undefined, undefined);
  } finally {
    await server.stop();
  }
}

interface Rates {
  readonly alone: number[];
  readonly bareAlone: number[];
  readonly shared: number[];
  readonly bareShared: number[];
  perCommit: number;
}

type BareWrite = (count: number, perCommit: number) => Promise<void>;

/** One round of everything after the other, so that a noisy moment of the machine meets both sides. */
async function interleave(
  rounds: number,
  store: Store,
  commits: CommitCounter,
  bare: BareWrite,
): Promise<Rates> {
  const rates: Rates = { alone: [], bareAlone: [], shared: [], bareShared: [], perCommit: 1 };
  await writeOurs(store, shared, callers);
  await bare(shared, callers);
  for (let round = 0; round < rounds; round += 1) {
    rates.bareAlone.push(await rate(alone, () => bare(alone, 1)));
    rates.alone.push(await rate(alone, () => writeOurs(store, alone, 1)));
    commits.reset();
    rates.shared.push(await rate(shared, () => writeOurs(store, shared, callers)));
    rates.perCommit = commits.mean();
    rates.bareShared.push(await rate(shared, () => bare(shared, rates.perCommit)));
  }
  return rates;
}

async function writeOurs(store: Store, count: number, concurrency: number): Promise<void> {
  let left = count;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await store.write(insert(message()));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
}

class BareSqlite {
  readonly #db: DatabaseSync;

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  static async open(file: string): Promise<BareSqlite> {
    // The schema is ours; everything after that is node:sqlite alone.
    const made = await openStore({ database: file, dataFolder: '' });
    await made.close();
    const db = new DatabaseSync(file);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    return new BareSqlite(db);
  }

  write(count: number, perCommit: number): void {
    const insertRow = this.#db.prepare(
      'insert into users (id, uid, username, password_hash, password_changed_at, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?)',
    );
    const begin = this.#db.prepare('BEGIN IMMEDIATE');
    const commit = this.#db.prepare('COMMIT');
    for (let left = count; left > 0; left -= perCommit) {
      begin.run();
      for (let place = Math.min(left, perCommit); place > 0; place -= 1) {
        const { id, username, body, now } = message();
        insertRow.run(id, now, username, body, now, now, now);
      }
      commit.run();
    }
  }

  close(): void {
    this.#db.close();
  }
}

/** The usual way: each statement is awaited. */
async function writeBarePostgres(
  client: pg.Client,
  count: number,
  perCommit: number,
): Promise<void> {
  for (let left = count; left > 0; left -= perCommit) {
    await client.query('begin');
    for (let place = Math.min(left, perCommit); place > 0; place -= 1) {
      const { id, username, body, now } = message();
      await client.query({
        name: 'insert',
        text: 'insert into users (id, uid, username, password_hash, password_changed_at, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7)',
        values: [id, now, username, body, now, now, now],
      });
    }
    await client.query('commit');
  }
}

class CommitCounter {
  #units = 0;
  #commits = 0;

  readonly count = (units: number): void => {
    this.#units += units;
    this.#commits += 1;
  };

  reset(): void {
    this.#units = 0;
    this.#commits = 0;
  }

  mean(): number {
    return Math.round(this.#units / this.#commits);
  }
}

async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (count * 1000) / (performance.now() - start);
}

function rowsFrom(
  name: string,
  peer: string,
  rates: Rates,
  aloneBar: number | undefined,
  sharedBar: number | undefined,
): BenchRow[] {
  return [
    {
      what: `${name}, one caller`,
      rate: median(rates.alone),
      peer: `${peer}, 1 per commit`,
      peerRate: median(rates.bareAlone),
      ratio: median(rates.alone.map((ours, round) => ours / (rates.bareAlone[round] ?? 0))),
      bar: aloneBar,
    },
    {
      what: `${name}, ${callers} callers`,
      rate: median(rates.shared),
      peer: `${peer}, ${rates.perCommit} per commit`,
      peerRate: median(rates.bareShared),
      ratio: median(rates.shared.map((ours, round) => ours / (rates.bareShared[round] ?? 0))),
      bar: sharedBar,
    },
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
