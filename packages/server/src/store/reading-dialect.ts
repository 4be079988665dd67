import type {
  CompiledQuery,
  DatabaseConnection,
  Driver,
  Dialect as KyselyDialect,
  QueryResult,
} from 'kysely';
import { storable } from './sql-value.ts';

type Translate = (error: unknown) => Error;

/**
 * Puts the store's own words around a dialect of Kysely's, for the read side: the store's errors, the store's check
 * of values, and no transactions.
 */
export function readingDialect(dialect: KyselyDialect, translate: Translate): KyselyDialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => new ReadingDriver(dialect.createDriver(), translate),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}

class ReadingDriver implements Driver {
  readonly #driver: Driver;
  readonly #translate: Translate;
  readonly #inner = new WeakMap<DatabaseConnection, DatabaseConnection>();

  constructor(driver: Driver, translate: Translate) {
    this.#driver = driver;
    this.#translate = translate;
  }

  init(): Promise<void> {
    return this.#driver.init();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    try {
      const inner = await this.#driver.acquireConnection();
      const connection = new ReadingConnection(inner, this.#translate);
      this.#inner.set(connection, inner);
      return connection;
    } catch (error) {
      throw this.#translate(error);
    }
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const inner = this.#inner.get(connection);
    if (inner !== undefined) await this.#driver.releaseConnection(inner);
  }

  // SQLite's readers share one connection, so a transaction would take other callers' queries in.
  beginTransaction(): Promise<void> {
    return Promise.reject(
      new Error('The read side has no transactions. Ask in one query what must fit together.'),
    );
  }

  commitTransaction(): Promise<void> {
    return Promise.resolve();
  }

  rollbackTransaction(): Promise<void> {
    return Promise.resolve();
  }

  destroy(): Promise<void> {
    return this.#driver.destroy();
  }
}

class ReadingConnection implements DatabaseConnection {
  readonly #inner: DatabaseConnection;
  readonly #translate: Translate;

  constructor(inner: DatabaseConnection, translate: Translate) {
    this.#inner = inner;
    this.#translate = translate;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    query.parameters.forEach(storable);
    try {
      return await this.#inner.executeQuery<Row>(query);
    } catch (error) {
      throw this.#translate(error);
    }
  }

  async *streamQuery<Row>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    query.parameters.forEach(storable);
    try {
      yield* this.#inner.streamQuery<Row>(query, chunkSize);
    } catch (error) {
      throw this.#translate(error);
    }
  }
}
