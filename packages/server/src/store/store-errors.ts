/** What can go wrong in the store, in the same words on SQLite and PostgreSQL. */
export class StoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A row with the same value in these columns is there already. `columns` is empty for an index on an expression. */
export class UniqueViolation extends StoreError {
  readonly table: string;
  readonly columns: readonly string[];

  constructor(table: string, columns: readonly string[], options?: ErrorOptions) {
    super(`${table} has a row with the same ${columns.join(', ') || 'key'} already.`, options);
    this.table = table;
    this.columns = columns;
  }
}

/** A row points to one that is not there, or one that others point to was to go. SQLite does not say which. */
export class ForeignKeyViolation extends StoreError {
  constructor(options?: ErrorOptions) {
    super('The rows that belong together would no longer fit together.', options);
  }
}

/** A column that always has a value would have none. */
export class NotNullViolation extends StoreError {
  constructor(options?: ErrorOptions) {
    super('A value that a row needs is not there.', options);
  }
}

/** A statement met another number of rows than `expectRows` asked for; its unit was rolled back. */
export class UnexpectedRows extends StoreError {
  /** The place of the statement in its unit, from 0. */
  readonly statement: number;
  readonly expected: number;
  readonly actual: number;

  constructor(statement: number, expected: number, actual: number) {
    super(`Statement ${statement} of the unit met ${actual} rows where ${expected} were expected.`);
    this.statement = statement;
    this.expected = expected;
    this.actual = actual;
  }
}

/**
 * The database does not answer or cannot write: disk full, I/O error, connection lost, server stopping.
 * When a connection is lost during a commit, nobody can tell whether that commit took place.
 */
export class StoreUnavailable extends StoreError {}

/** The value cannot be kept exactly in both databases. */
export class UnstorableValue extends StoreError {
  constructor(what: string) {
    super(`The store cannot keep ${what}.`);
  }
}

/** The database refused the statement for another reason: a mistake in the statement or its values. */
export class StatementFailed extends StoreError {}

/** The database was written by a newer version of the service. */
export class SchemaTooNew extends StoreError {
  readonly found: number;
  readonly known: number;

  constructor(found: number, known: number) {
    super(
      `The database has schema ${found}, and this version of reactord knows schemas up to ${known}. ` +
        'Start the newer version of reactord that made the database, or one after it.',
    );
    this.found = found;
    this.known = known;
  }
}
