import pg from 'pg';
import type { BatchCommitter, BatchUnit, Outcome } from '../group-commit.ts';
import { StoreUnavailable } from '../store-errors.ts';
import type { StoreLog } from '../store-log.ts';
import { runCarefully, runPipelined } from './batch.ts';
import { translate } from './failure.ts';
import { session } from './session.ts';

/** A server that does not answer for so long is given up, or else every write would wait with it. */
const patience = 30_000;

/** The writing connection. It is made when it is needed, again after the server went away. */
export class PostgresWriter implements BatchCommitter {
  /** A batch that must be run again has to come before the next one. */
  readonly overlaps = false;
  readonly #url: string;
  readonly #log: StoreLog | undefined;
  #client: pg.Client | undefined;

  constructor(url: string, log: StoreLog | undefined) {
    this.#url = url;
    this.#log = log;
  }

  async commit(batch: readonly BatchUnit[]): Promise<readonly Outcome[]> {
    let client: pg.Client | undefined;
    const watch = setTimeout(() => client?.connection.stream.destroy(), patience);
    try {
      client = await this.#connected();
      return (await runPipelined(client, batch)) ?? (await runCarefully(client, batch));
    } catch (error) {
      // Whatever state the connection is in, no later batch shall meet it.
      if (client !== undefined) this.#drop(client);
      throw translate(error);
    } finally {
      clearTimeout(watch);
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  async #connected(): Promise<pg.Client> {
    if (this.#client !== undefined) return this.#client;
    const client = new pg.Client({ ...session(this.#url), pipeline: true });
    client.on('error', () => this.#forget(client));
    client.on('end', () => this.#forget(client));
    await client.connect();
    try {
      await this.#prepareSession(client);
    } catch (error) {
      this.#drop(client);
      throw error;
    }
    this.#client = client;
    return client;
  }

  async #prepareSession(client: pg.Client): Promise<void> {
    // An acknowledged write survives the power: on, or what waits for more than that.
    await client.query(
      `select set_config('synchronous_commit', 'on', false)
        where current_setting('synchronous_commit') not in ('on', 'remote_apply')`,
    );
    // Should this machine vanish in the middle of a batch, the server lets its locks go.
    await client.query(`set idle_in_transaction_session_timeout = ${patience}`);
    const { rows } = await client.query<{ fsync: string }>('show fsync');
    if (rows[0]?.fsync === 'off') {
      this.#log?.warn(
        'PostgreSQL runs with fsync = off: acknowledged writes can be lost with the power.',
      );
    }
    if (client.getTransactionStatus() !== 'I')
      throw new StoreUnavailable('PostgreSQL is not ready.');
  }

  #drop(client: pg.Client): void {
    this.#forget(client);
    client.connection.stream.destroy();
  }

  #forget(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined;
  }
}
