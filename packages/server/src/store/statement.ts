import {
  type Compilable,
  type DeleteResult,
  DummyDriver,
  type InsertResult,
  Kysely,
  type MergeResult,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type UpdateResult,
} from 'kysely';
import type { Dialect } from './dialect.ts';
import type { Schema } from './schema.ts';
import { type SqlValue, storable } from './sql-value.ts';

declare const rowOf: unique symbol;

/** One statement of a unit, with its values. `Row` is the type of the rows that it returns. */
export interface Statement<Row = unknown> {
  /** How many rows the statement must affect or return; undefined: any number. */
  readonly expected: number | undefined;
  bind(dialect: Dialect): BoundStatement;
  readonly [rowOf]?: Row;
}

/** What came of one statement: the rows of RETURNING, and how many rows it changed (or returned). */
export interface Result<Row = unknown> {
  readonly rows: readonly Row[];
  readonly affected: number;
}

/** One Result per statement of the unit, in order. */
export type RowsOf<Unit extends readonly Statement[]> = {
  -readonly [Place in keyof Unit]: Unit[Place] extends Statement<infer Row> ? Result<Row> : never;
};

/** A statement in the words of one database. */
export interface BoundStatement {
  readonly template: Template;
  readonly values: readonly SqlValue[];
}

/** SQL text. `id` names a text that comes again and again, so that a driver prepares it once. */
interface Template {
  readonly id: number | undefined;
  readonly sql: string;
}

type Build<Params, Output> = (db: Kysely<Schema>, p: Params) => Compilable<Output>;

type RowFrom<Output> = Output extends InsertResult | UpdateResult | DeleteResult | MergeResult
  ? never
  : Output;

type Values<Params> = object extends Params ? [values?: Params] : [values: Params];

/**
 * Defines a statement whose shape never changes, at the top of a module. It is compiled once per database, when it
 * is first needed: building SQL takes longer than running it.
 * `p` holds placeholders, so inside the builder its values can be passed on and nothing else.
 */
export function prepared<Params extends { [Name in keyof Params]: SqlValue }, Output>(
  build: Build<Params & object, Output>,
): (...args: Values<Params>) => Statement<RowFrom<Output>> {
  const compiled: Partial<Record<Dialect, PreparedTemplate>> = {};
  return (...[values]) => ({
    expected: undefined,
    bind(dialect) {
      compiled[dialect] ??= compilePrepared(dialect, build);
      const { template, slots } = compiled[dialect];
      const filled: SqlValue[] = [];
      for (const slot of slots) filled.push(storable(fill(slot, values)));
      return { template, values: filled };
    },
  });
}

/** A statement built on the spot, for shapes that depend on the values: IN lists, many rows. */
export function once<Output>(
  build: (db: Kysely<Schema>) => Compilable<Output>,
): Statement<RowFrom<Output>> {
  return {
    expected: undefined,
    bind(dialect) {
      const { sql, parameters } = build(builders[dialect]).compile();
      return { template: { id: undefined, sql }, values: parameters.map(storable) };
    },
  };
}

/** The statement must affect (or return) exactly this many rows, or else its whole unit is undone. */
export function expectRows<Row>(statement: Statement<Row>, count: number): Statement<Row> {
  return { expected: count, bind: (dialect) => statement.bind(dialect) };
}

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

interface PreparedTemplate {
  readonly template: Template;
  /** What stands at each parameter: the name of a value, or a constant that the builder wrote. */
  readonly slots: readonly unknown[];
}

let templates = 0;

function compilePrepared<Params extends object, Output>(
  dialect: Dialect,
  build: Build<Params, Output>,
): PreparedTemplate {
  const placeholders = new Proxy<Params>(Object.create(null), {
    get: (_, name) => new Placeholder(String(name)),
  });
  const { sql, parameters } = build(builders[dialect], placeholders).compile();
  templates += 1;
  return { template: { id: templates, sql }, slots: parameters };
}

function fill(slot: unknown, values: object | undefined): unknown {
  if (!(slot instanceof Placeholder)) return slot;
  return values === undefined ? undefined : Reflect.get(values, slot.name);
}

/** They build SQL and reach no database. */
const builders: Readonly<Record<Dialect, Kysely<Schema>>> = {
  sqlite: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  postgres: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
};
