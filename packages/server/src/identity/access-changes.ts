import { currentNumber, takeNumber } from '../store/counters.ts';
import { prepared, type RowsOf, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

/** Something that processes may remember, and that has been changed or ended. */
export interface AccessChange {
  readonly kind: 'user' | 'client' | 'authorization' | 'token' | 'reactor';
  /** The id of the user, client, authorization or reactor; the hash of the token in hex. */
  readonly subject: string;
}

type Listener = (change: AccessChange) => void;

interface Log {
  warn(facts: object, message: string): void;
}

const pollMs = 1_000;
const purgeMs = 3_600_000;
const keptMs = 24 * 3_600_000;

const insertChange = prepared((db, p: AccessChange & { at: number }) =>
  db
    .insertInto('access_changes')
    .values({ id: currentNumber('access_change'), kind: p.kind, subject: p.subject, at: p.at })
    .returning('id'),
);

const purgeChanges = prepared((db, p: { before: number }) =>
  db.deleteFrom('access_changes').where('at', '<', p.before),
);

/**
 * How all processes on one store come to know within a second or so that a user, client or token was changed: the
 * change is committed together with a numbered row that says so, and everyone looks for rows with higher numbers.
 * The numbers are in the order of the commits, so none is overlooked, whatever the clocks say.
 */
export class AccessChanges {
  readonly #store: Store;
  readonly #log: Log;
  readonly #listeners: Listener[] = [];
  /** Rows that this process wrote, and whose listeners it has told already. */
  readonly #own = new Set<number>();
  #seen: number | undefined;
  #generation = 0;
  #poll: NodeJS.Timeout | undefined;
  #purge: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /**
   * Grows with every change that this process gets to know. Who reads something in order to remember it looks at
   * this number before reading, and remembers only if it is the same afterwards: what was read may be outdated.
   */
  get generation(): number {
    return this.#generation;
  }

  /** Commits the unit together with what it changes, then tells the listeners of this process. */
  async write<const Unit extends readonly Statement[]>(
    changes: readonly AccessChange[],
    ...unit: Unit
  ): Promise<RowsOf<Unit>> {
    const at = Date.now();
    const rows = changes.flatMap((change) => [
      takeNumber('access_change'),
      insertChange({ ...change, at }),
    ]);
    // Last in the unit: the counter is locked for as short as possible, and places in the unit stay what they were.
    const results: readonly { rows: readonly unknown[] }[] = await this.#store.write(
      ...unit,
      ...rows,
    );
    if (this.#poll !== undefined) {
      for (const { rows: returned } of results.slice(unit.length)) {
        for (const row of returned) this.#own.add(idOf(row));
      }
    }
    for (const change of changes) this.#tell(change);
    return resultsOf<Unit>(results.slice(0, unit.length));
  }

  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  start(): void {
    if (this.#poll !== undefined) return;
    this.#poll = setInterval(() => this.look(), pollMs);
    this.#purge = setInterval(() => void this.#purgeOld(), purgeMs);
    this.#poll.unref();
    this.#purge.unref();
    void this.look();
  }

  stop(): void {
    clearInterval(this.#poll);
    clearInterval(this.#purge);
    this.#poll = undefined;
    this.#purge = undefined;
  }

  /** Looks for changes that others have made, now. Looks do not overlap. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    try {
      // Who looks for the first time remembers nothing yet that an older change could concern.
      this.#seen ??= await this.#newest();
      const found = await this.#store.read
        .selectFrom('access_changes')
        .select(['id', 'kind', 'subject'])
        .where('id', '>', this.#seen)
        .orderBy('id')
        .execute();
      // The numbers have no gaps: a process that slept for long has missed what has been purged meanwhile.
      if (found[0] !== undefined && found[0].id > this.#seen + 1) await this.#tellAll();
      for (const { id, kind, subject } of found) {
        this.#seen = id;
        if (!this.#own.delete(id)) this.#tell({ kind, subject });
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'looking for access changes of other processes failed');
    }
  }

  async #newest(): Promise<number> {
    const counter = await this.#store.read
      .selectFrom('counters')
      .select('value')
      .where('name', '=', 'access_change')
      .executeTakeFirst();
    return counter?.value ?? 0;
  }

  /** Nobody knows any more what has changed: so everything has. */
  async #tellAll(): Promise<void> {
    const users = await this.#store.read.selectFrom('users').select('id').execute();
    const clients = await this.#store.read.selectFrom('clients').select('id').execute();
    const reactors = await this.#store.read.selectFrom('reactors').select('id').execute();
    for (const { id } of users) this.#tell({ kind: 'user', subject: id });
    for (const { id } of clients) this.#tell({ kind: 'client', subject: id });
    for (const { id } of reactors) this.#tell({ kind: 'reactor', subject: id });
  }

  async #purgeOld(): Promise<void> {
    try {
      await this.#store.write(purgeChanges({ before: Date.now() - keptMs }));
    } catch (error) {
      this.#log.warn({ err: error }, 'purging old access changes failed');
    }
  }

  #tell(change: AccessChange): void {
    this.#generation += 1;
    for (const listener of this.#listeners) listener(change);
  }
}

function idOf(row: unknown): number {
  return typeof row === 'object' && row !== null && 'id' in row ? Number(row.id) : 0;
}

/** The store gives one result per statement, in order; the first ones are those of the unit. */
function resultsOf<Unit extends readonly Statement[]>(results: readonly unknown[]): RowsOf<Unit> {
  return results as RowsOf<Unit>;
}
