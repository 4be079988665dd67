import type { Config } from '../config.ts';
import { ContainerGone, PullFailed } from '../engines/engine.ts';
import { executionEvent } from '../events/outbox.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { expectRows } from '../store/statement.ts';
import { Active, type RunRules } from './active.ts';
import { type BeginParts, type Begun, begin } from './begin.ts';
import { markRunning } from './claim.ts';
import { tooLong, wordsOf } from './end-words.ts';
import type { Execution } from './execution.ts';
import { nowInMicroseconds } from './execution-time.ts';
import type { Executions } from './executions.ts';
import { completed, failed, type Outcome, release, type SettleParts, settle } from './settle.ts';
import { type Watched, type WatchParts, watch } from './watch.ts';

export interface RunParts extends BeginParts, WatchParts, SettleParts {
  readonly reactors: Pick<Reactors, 'byId'>;
  readonly executions: Executions;
  readonly config: Config;
  /** The reactor may have something to run now. */
  readonly wake: (reactorId: string) => void;
  /** Something failed that must not: the execution is claimed still, and somebody has to look what became of it. */
  readonly onLost: (execution: Execution) => void;
}

const endedByForce = new Set([137, 143]);

/** Runs what was claimed: begins, watches, settles, and removes the container. */
export class Runner {
  readonly #parts: RunParts;
  readonly #active = new Map<string, Active>();
  #stopping = false;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  find(executionId: string): Active | undefined {
    return this.#active.get(executionId);
  }

  ofReactor(reactorId: string): readonly Active[] {
    return [...this.#active.values()].filter(({ execution }) => execution.reactorId === reactorId);
  }

  /** Whether one more of this reactor may be begun, as far as this process knows. */
  hasRoomFor(reactor: Reactor | undefined): boolean {
    if (!isRunnable(reactor)) return false;
    const room = reactor.stateless ? reactor.maxWorkers : 1;
    return this.ofReactor(reactor.id).filter(({ isOver }) => !isOver).length < room;
  }

  /** Resolves when the container is gone, or left to the next service. Never rejects. */
  async run(execution: Execution): Promise<void> {
    const { reactors } = this.#parts;
    await this.#guarded(execution, async () => {
      const reactor = await reactors.byId(execution.reactorId);
      if (this.#stopping || !isRunnable(reactor)) return this.#giveBack(execution, reactor);
      const active = this.#track(execution, reactor);
      const begun = await this.#begin(active, reactor);
      if (begun !== undefined) await this.#follow(active, begun);
    });
  }

  /** Goes on with a container that an earlier process has started. */
  async adopt(execution: Execution, containerId: string): Promise<void> {
    const { reactors, engine } = this.#parts;
    await this.#guarded(execution, async () => {
      const active = this.#track(execution, await reactors.byId(execution.reactorId));
      active.containerId = containerId;
      const output = await engine.replay(containerId);
      await this.#follow(active, { containerId, output, replayed: true });
    });
  }

  /** Ends an execution that has no container and will have none. */
  async fail(execution: Execution, words: string): Promise<void> {
    await this.#write(execution, failed(execution, words));
  }

  /** Lets go of everything that runs: containers go on, and the next service finds them. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const all = [...this.#active.values()];
    for (const active of all) active.detach();
    await Promise.allSettled(all.map(({ settled }) => settled));
  }

  #track(execution: Execution, reactor: Reactor | undefined): Active {
    const active = new Active(execution, this.#rulesOf(execution, reactor));
    this.#active.set(execution.id, active);
    return active;
  }

  #rulesOf(execution: Execution, reactor: Reactor | undefined): RunRules {
    const { config, tokens } = this.#parts;
    return {
      timeoutSeconds: reactor?.timeoutSeconds ?? config.execution_time_limit,
      memoryBytes: reactor?.memoryBytes ?? config.default_memory,
      logSeconds: reactor?.logSeconds ?? config.log_retention,
      token: reactor?.token === false ? undefined : tokens.of(execution),
    };
  }

  async #begin(active: Active, reactor: Reactor): Promise<Begun | undefined> {
    const { log } = this.#parts;
    const { execution } = active;
    try {
      return await begin(this.#parts, active, reactor);
    } catch (error) {
      if (active.detached) return undefined;
      await this.#removeContainer(active);
      // The reactor is in ERROR now, and what waits for it waits on, this one first.
      if (error instanceof PullFailed) {
        await release(this.#parts, execution);
        return undefined;
      }
      const wanted = active.stopWords === undefined;
      const words = wanted
        ? `could not be run: ${sentence(error)}`
        : `dropped: ${active.stopWords}`;
      if (wanted) log.warn({ err: error, execution: execution.id }, 'execution could not be run');
      await this.fail(execution, words);
      return undefined;
    }
  }

  async #follow(active: Active, begun: Begun): Promise<void> {
    await this.#markRunning(active);
    let watched: Watched | undefined;
    try {
      watched = await watch(this.#parts, active, begun);
    } catch (error) {
      if (!(error instanceof ContainerGone)) throw error;
      await this.fail(
        active.execution,
        'lost: its container was removed from the engine before it ended',
      );
      return;
    }
    if (watched === undefined) return;
    await this.#finish(active, begun.containerId, watched);
    await this.#removeContainer(active);
  }

  async #markRunning({ execution }: Active): Promise<void> {
    const { store, executions, wake } = this.#parts;
    if (execution.status === 'RUNNING') return;
    const { id, workerId, reactorId } = execution;
    const now = nowInMicroseconds();
    await store.write(
      expectRows(markRunning({ id, workerId: workerId ?? '', now }), 1),
      ...executionEvent({
        reactorId,
        executionId: id,
        type: 'EXECUTION_STARTED',
        status: 'RUNNING',
        exitCode: null,
        statusMessage: '',
      }),
    );
    executions.tellStarted(execution.id);
    // With room for more, the next in order may start.
    wake(execution.reactorId);
  }

  async #finish(active: Active, containerId: string, { end, writer }: Watched): Promise<void> {
    const { engine, log } = this.#parts;
    const { execution, rules } = active;
    const asked = engine.usage(containerId).catch((error: unknown) => {
      log.warn({ err: error, execution: execution.id }, 'what it used is not known');
      return undefined;
    });
    const [usage] = await Promise.all([asked, writer.end()]);
    const plain = completed(end, usage, '');
    // A service that was killed while it stopped the container for its time left no other trace of why.
    const overdue = endedByForce.has(end.exitCode) && plain.runtime >= rules.timeoutSeconds;
    const stopWords = active.stopWords ?? (overdue ? tooLong(rules.timeoutSeconds) : undefined);
    const words = wordsOf({ end, stopWords, memoryBytes: rules.memoryBytes });
    await this.#write(execution, completed(end, usage, words));
  }

  async #write(execution: Execution, outcome: Outcome): Promise<void> {
    const { executions, wake } = this.#parts;
    const active = this.#active.get(execution.id);
    if (await settle(this.#parts, execution, outcome, active?.letGo))
      executions.tellSettled(execution.id);
    // Its container is still to be removed, and the next one need not wait for that.
    if (active !== undefined) active.isOver = true;
    wake(execution.reactorId);
  }

  async #giveBack(execution: Execution, reactor: Reactor | undefined): Promise<void> {
    if (reactor === undefined || reactor.status === 'SHUTTING_DOWN') {
      await this.fail(execution, 'dropped: its reactor was deleted before it ran');
      return;
    }
    await release(this.#parts, execution);
  }

  async #removeContainer({ containerId, execution }: Active): Promise<void> {
    const { engine, log } = this.#parts;
    if (containerId === undefined) return;
    try {
      await engine.remove(containerId);
    } catch (error) {
      log.warn({ err: error, execution: execution.id }, 'the container is removed later');
    }
  }

  /** Whatever fails here is a fault of the service: the execution stays claimed, and is recovered as after a crash. */
  async #guarded(execution: Execution, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#stopping) {
        this.#parts.log.error({ err: error, execution: execution.id }, 'running failed');
        this.#parts.onLost(execution);
      }
    } finally {
      const active = this.#active.get(execution.id);
      this.#active.delete(execution.id);
      active?.tellSettled();
    }
  }
}

function isRunnable(reactor: Reactor | undefined): reactor is Reactor {
  return reactor?.status === 'READY' && reactor.imageId !== null;
}

const sentence = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
