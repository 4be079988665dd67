import type { Store } from '../store/store.ts';
import { type Execution, executionFrom } from './execution.ts';

type Listener = (executionId: string) => void;

/** The executions as others look at them: finds one, and says when one has come to its end. */
export class Executions {
  readonly #store: Store;
  readonly #started: Listener[] = [];
  readonly #settled: Listener[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  async find(reactorId: string, executionId: string): Promise<Execution | undefined> {
    const execution = await this.byId(executionId);
    return execution?.reactorId === reactorId ? execution : undefined;
  }

  async byId(executionId: string): Promise<Execution | undefined> {
    const row = await this.#store.read
      .selectFrom('executions')
      .selectAll()
      .where('id', '=', executionId)
      .executeTakeFirst();
    return row && executionFrom(row);
  }

  /** The container runs, and the record says so. */
  onStarted(listener: Listener): void {
    this.#started.push(listener);
  }

  /** COMPLETE or ERROR is stored, and everything the container wrote with it. */
  onSettled(listener: Listener): void {
    this.#settled.push(listener);
  }

  tellStarted(executionId: string): void {
    for (const listener of this.#started) listener(executionId);
  }

  tellSettled(executionId: string): void {
    for (const listener of this.#settled) listener(executionId);
  }
}
