import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { StatementFailed, UnexpectedRows } from '../store-errors.ts';
import {
  type BatchReply,
  type BatchRequest,
  type ThreadStatement,
  unpackBatch,
} from './batch-message.ts';
import { prepare, type Ready, StatementCache } from './connection.ts';
import { type Failure, failureOf } from './failure.ts';

const mostOnceStatements = 64;

interface Template {
  readonly sql: string;
  ready: Ready | undefined;
}

type ThreadUnit = readonly ThreadStatement[];

interface Reply {
  readonly affected: number[];
  readonly rows: [number, readonly unknown[]][];
  readonly failures: [number, Failure][];
}

/** Runs batches on the one writing connection, each in one transaction. */
export class BatchRunner {
  readonly #db: DatabaseSync;
  readonly #templates = new Map<number, Template>();
  readonly #once: StatementCache;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #undo: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#once = new StatementCache(db, mostOnceStatements);
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#savepoint = db.prepare('SAVEPOINT unit');
    this.#release = db.prepare('RELEASE unit');
    this.#undo = db.prepare('ROLLBACK TO unit');
  }

  run(request: BatchRequest): BatchReply {
    for (const [id, sql] of request.templates) this.#templates.set(id, { sql, ready: undefined });
    const units = unpackBatch(request);
    // A savepoint around each unit takes a sixth of a batch, and hardly any unit fails. When one does, the batch is
    // run once more from the start, with savepoints.
    try {
      return this.#committed(this.#runUnguarded(units) ?? this.#runGuarded(units));
    } catch (error) {
      const failure = failureOf(error, this.#db);
      this.#rollBack();
      return { affected: [], rows: [], failures: [], failure, commitMilliseconds: 0 };
    }
  }

  /** Undefined when something failed, and nothing was applied. */
  #runUnguarded(units: readonly ThreadUnit[]): Reply | undefined {
    const reply: Reply = { affected: [], rows: [], failures: [] };
    this.#begin.run();
    try {
      for (const unit of units) this.#runStatements(unit, reply);
      return reply;
    } catch {
      this.#rollBack();
      return undefined;
    }
  }

  #runGuarded(units: readonly ThreadUnit[]): Reply {
    const reply: Reply = { affected: [], rows: [], failures: [] };
    this.#begin.run();
    for (const [place, unit] of units.entries()) this.#runUnit(place, unit, reply);
    return reply;
  }

  #committed(reply: Reply): BatchReply {
    const start = performance.now();
    this.#commit.run();
    return { ...reply, failure: undefined, commitMilliseconds: performance.now() - start };
  }

  #rollBack(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
  }

  #runUnit(place: number, unit: ThreadUnit, reply: Reply): void {
    const first = reply.affected.length;
    this.#savepoint.run();
    try {
      this.#runStatements(unit, reply);
    } catch (error) {
      // On a full disk and the like SQLite rolls back the whole transaction by itself: then all units failed.
      if (!this.#db.isTransaction) throw error;
      reply.failures.push([place, failureOf(error, this.#db)]);
      this.#undo.run();
      reply.affected.length = first;
      for (const _ of unit) reply.affected.push(0);
    }
    this.#release.run();
  }

  #runStatements(unit: ThreadUnit, reply: Reply): void {
    let index = 0;
    for (const statement of unit) {
      this.#runStatement(index, statement, reply);
      index += 1;
    }
  }

  #runStatement(index: number, { id, sql, expected, values }: ThreadStatement, reply: Reply): void {
    const ready = sql === undefined ? this.#template(id) : this.#once.get(sql);
    const { statement, returnsRows } = ready;
    let affected: number;
    if (returnsRows) {
      const rows = statement.all(...values);
      affected = rows.length;
      if (affected > 0) reply.rows.push([reply.affected.length, rows]);
    } else {
      affected = Number(statement.run(...values).changes);
    }
    if (expected >= 0 && affected !== expected) throw new UnexpectedRows(index, expected, affected);
    reply.affected.push(affected);
  }

  #template(id: number): Ready {
    const template = this.#templates.get(id);
    if (template === undefined) throw new StatementFailed(`There is no statement ${id}.`);
    template.ready ??= prepare(this.#db, template.sql);
    return template.ready;
  }
}
