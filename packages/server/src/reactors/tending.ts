import { once } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

const everyMs = 5_000;
/** A reactor that no process has tended for so long has lost the one that did. */
const abandonedMs = 20_000;

export interface TendingParts {
  readonly store: Store;
  readonly log: { warn(facts: object, message: string): void };
  /** Goes on with what another process, or this one before its restart, has begun. */
  readonly takeUp: (id: string, status: 'SUBMITTED' | 'SHUTTING_DOWN') => void;
}

/**
 * Reactors on their way (waiting for their image, or going) need a process that works on them. It says so in
 * `tended_at` again and again; what nobody has tended for a while is taken up by whoever sees it first. Should two
 * take up the same, the work is done twice, and the same comes of it.
 */
export class Tending {
  readonly #parts: TendingParts;
  /** How many are at work on each, in this process. */
  readonly #own = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  constructor(parts: TendingParts) {
    this.#parts = parts;
  }

  begin(id: string): void {
    this.#own.set(id, (this.#own.get(id) ?? 0) + 1);
  }

  end(id: string): void {
    const left = (this.#own.get(id) ?? 0) - 1;
    if (left > 0) this.#own.set(id, left);
    else this.#own.delete(id);
  }

  /** The store of one process alone has nobody else who could be at work: all is taken up at once. */
  start(): void {
    const since = this.#parts.store.dialect === 'sqlite' ? 0 : abandonedMs;
    void this.#look(since);
    this.#timer = setInterval(() => void this.#look(abandonedMs), everyMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(abandonedSinceMs: number): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      await this.#sayTended();
      for (const { id, status } of await this.#abandoned(Date.now() - abandonedSinceMs)) {
        if (this.#own.has(id)) continue;
        if (status === 'SUBMITTED' || status === 'SHUTTING_DOWN') this.#parts.takeUp(id, status);
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'looking for unfinished reactors failed');
    } finally {
      this.#looking = false;
    }
  }

  async #sayTended(): Promise<void> {
    if (this.#own.size === 0) return;
    const now = Date.now();
    const ids = [...this.#own.keys()];
    await this.#parts.store.write(
      once((db) => db.updateTable('reactors').set({ tended_at: now }).where('id', 'in', ids)),
    );
  }

  #abandoned(before: number) {
    return this.#parts.store.read
      .selectFrom('reactors')
      .select(['id', 'status'])
      .where('status', 'in', ['SUBMITTED', 'SHUTTING_DOWN'])
      .where('tended_at', '<=', before)
      .orderBy('created_at')
      .limit(10_000)
      .execute();
  }
}
