import { fail } from '../errors.ts';
import { expectRows, prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { ForeignKeyViolation, UnexpectedRows } from '../store/store-errors.ts';

/** What a stateful reactor remembers, and how often it has changed. */
export interface ReactorState {
  /** JSON. */
  readonly text: string;
  /** 0: nothing was ever kept. */
  readonly version: number;
}

/** What a reactor remembers before it has been told anything. */
const atFirst: ReactorState = { text: '{}', version: 0 };

interface NewState {
  readonly reactorId: string;
  readonly state: string;
  readonly now: number;
}

const putState = prepared((db, p: NewState) =>
  db
    .insertInto('reactor_states')
    .values({ reactor_id: p.reactorId, version: 1, updated_at: p.now, state: p.state })
    .onConflict((conflict) =>
      conflict.column('reactor_id').doUpdateSet((eb) => ({
        version: eb('reactor_states.version', '+', 1),
        updated_at: eb.ref('excluded.updated_at'),
        state: eb.ref('excluded.state'),
      })),
    )
    .returning('version'),
);

const putFirstState = prepared((db, p: NewState) =>
  db
    .insertInto('reactor_states')
    .values({ reactor_id: p.reactorId, version: 1, updated_at: p.now, state: p.state })
    .onConflict((conflict) => conflict.doNothing())
    .returning('version'),
);

const changeState = prepared((db, p: NewState & { version: number }) =>
  db
    .updateTable('reactor_states')
    .set((eb) => ({ version: eb('version', '+', 1), updated_at: p.now, state: p.state }))
    .where('reactor_id', '=', p.reactorId)
    .where('version', '=', p.version)
    .returning('version'),
);

/** The states of the stateful reactors, apart from the reactors themselves: they change with every execution. */
export class ReactorStates {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async read(reactorId: string): Promise<ReactorState> {
    const row = await this.#store.read
      .selectFrom('reactor_states')
      .select(['state', 'version'])
      .where('reactor_id', '=', reactorId)
      .executeTakeFirst();
    return row === undefined ? atFirst : { text: row.state, version: row.version };
  }

  async textOf(reactorId: string): Promise<string> {
    return (await this.read(reactorId)).text;
  }

  /**
   * Replaces the state; with `from`, only if it is still of that version. Resolves with the new version, or undefined
   * when somebody else was faster.
   */
  async replace(
    reactorId: string,
    text: string,
    from: number | undefined,
  ): Promise<number | undefined> {
    const given = { reactorId, state: text, now: Date.now() };
    const statement =
      from === undefined
        ? putState(given)
        : from === 0
          ? putFirstState(given)
          : changeState({ ...given, version: from });
    try {
      const [changed] = await this.#store.write(expectRows(statement, 1));
      return changed.rows[0]?.version;
    } catch (error) {
      if (error instanceof UnexpectedRows) return undefined;
      if (error instanceof ForeignKeyViolation)
        throw fail('unknown_resource', { kind: 'reactor', name: reactorId });
      throw error;
    }
  }
}
