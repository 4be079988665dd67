import { risingId } from '../ids.ts';
import { once, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

/** Who did what to which resource, from where, and how it ended. */
export interface AuditNote {
  readonly userId: string | null;
  readonly username: string;
  /** The name of the application that it was done with. */
  readonly client: string;
  /** Where the request came from. */
  readonly address: string;
  readonly action: string;
  readonly method: string;
  readonly resource: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  readonly requestId: string;
}

const insertEntry = prepared((db, p: AuditNote & { id: string; at: number }) =>
  db.insertInto('audit_entries').values({
    id: p.id,
    at: p.at,
    user_id: p.userId,
    username: p.username,
    client: p.client,
    address: p.address,
    action: p.action,
    method: p.method,
    resource: p.resource,
    status: p.status,
    request_id: p.requestId,
  }),
);

/** To stand in the unit of what it tells of. */
export function entryOf(note: AuditNote): Statement {
  const cut = (text: string): string => text.replaceAll('\0', '').slice(0, longestText);
  return insertEntry({
    ...note,
    username: cut(note.username),
    client: cut(note.client),
    resource: cut(note.resource),
    id: risingId(),
    at: Date.now(),
  });
}

interface Parts {
  readonly store: Store;
  readonly config: { readonly audit_retention: number };
  readonly log: { warn(facts: object, message: string): void };
}

const sweepMs = 3_600_000;
const rowsAtOnce = 500;
const longestText = 500;

/** Keeps who did what. An entry is durable before the answer goes out; nobody's request fails because of it. */
export class Audit {
  readonly #parts: Parts;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    void this.sweep();
    this.#timer = setInterval(() => void this.sweep(), sweepMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async note(note: AuditNote): Promise<void> {
    const { store, log } = this.#parts;
    try {
      await store.write(entryOf(note));
    } catch (error) {
      const { action, userId: user, status } = note;
      log.warn({ err: error, action, user, status }, 'an audit entry could not be kept');
    }
  }

  /** Removes what is too old. */
  async sweep(): Promise<void> {
    const { store, config, log } = this.#parts;
    const before = Date.now() - config.audit_retention * 1000;
    try {
      for (;;) {
        const rows = await store.read
          .selectFrom('audit_entries')
          .select(['id', 'at'])
          .orderBy('id')
          .limit(rowsAtOnce)
          .execute();
        const last = rows.filter(({ at }) => at < before).at(-1);
        if (last === undefined) return;
        await store.write(once((db) => db.deleteFrom('audit_entries').where('id', '<=', last.id)));
      }
    } catch (error) {
      log.warn({ err: error }, 'removing old audit entries failed');
    }
  }
}
