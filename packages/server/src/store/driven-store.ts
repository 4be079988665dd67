import { type Kysely, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import type { BatchUnit, GroupCommit } from './group-commit.ts';
import type { Schema } from './schema.ts';
import type { Result, RowsOf, Statement } from './statement.ts';
import type { Store } from './store.ts';

/** The store over whichever database: reads straight to it, writes through group commit. */
export class DrivenStore implements Store {
  readonly dialect: Dialect;
  readonly read: Kysely<Schema>;
  readonly #commits: GroupCommit;
  readonly #closeWriter: () => Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(
    dialect: Dialect,
    read: Kysely<Schema>,
    commits: GroupCommit,
    closeWriter: () => Promise<void>,
  ) {
    this.dialect = dialect;
    this.read = read;
    this.#commits = commits;
    this.#closeWriter = closeWriter;
  }

  write<const Unit extends readonly Statement[]>(...unit: Unit): Promise<RowsOf<Unit>> {
    let bound: BatchUnit;
    try {
      bound = unit.map((statement) => {
        const { template, values } = statement.bind(this.dialect);
        return { template, values, expected: statement.expected };
      });
    } catch (error) {
      return Promise.reject(error);
    }
    return typed<Unit>(this.#commits.write(bound));
  }

  async ping(): Promise<void> {
    // A unit without statements takes the whole way to the database and changes nothing.
    await this.write();
    await sql`select 1`.execute(this.read);
  }

  /** The store itself once it answers; when it does not, nothing of it stays behind. */
  async opened(): Promise<Store> {
    try {
      await this.ping();
      return this;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#commits.close();
    // Readers first: the last connection to close a SQLite file tidies up after all of them.
    await this.read.destroy();
    await this.#closeWriter();
  }
}

/**
 * Where the database's word is taken for the type of its rows: the statement was built against Schema, the
 * migrations make the tables, and drivers give one result per statement.
 */
function typed<Unit extends readonly Statement[]>(
  results: Promise<readonly Result[]>,
): Promise<RowsOf<Unit>> {
  return results as Promise<RowsOf<Unit>>;
}
