import type { Config } from '../config.ts';
import type { Configs } from '../configs/configs.ts';
import type { Delivered } from '../configs/delivered.ts';
import type { RunSecrets } from '../configs/run-secrets.ts';
import { ContainerGone, PullFailed } from '../engines/engine.ts';
import { ServiceError } from '../errors.ts';
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
import { Collecting, type CollectingParts } from './result-collecting.ts';
import { planRetry, putBack, type RetryPlan } from './retry.ts';
import { completed, failed, type Outcome, release, type SettleParts, settle } from './settle.ts';
import { type Watched, type WatchParts, watch } from './watch.ts';

export interface RunParts extends BeginParts, WatchParts, CollectingParts, SettleParts {
  readonly reactors: Pick<Reactors, 'byId'>;
  readonly configs: Pick<Configs, 'deliveredTo'>;
  readonly runSecrets: RunSecrets;
  readonly executions: Executions;
  readonly config: Config;
  /** The reactor may have something to run now. */
  readonly wake: (reactorId: string) => void;
  /** The execution is over or given back: its worker may take the next. */
  readonly freeWorker: (execution: Execution) => void;
  /** An execution of this reactor has begun. */
  readonly used: (reactorId: string) => void;
  /** Something is to be run again at this time, in microseconds. */
  readonly expect: (dueAt: number) => void;
  /** Something failed that must not: the execution is claimed still, and somebody has to look what became of it. */
  readonly onLost: (execution: Execution) => void;
}

/** Takes the execution among those that are under way. */
type Track = (reactor: Reactor | undefined, delivered: Delivered) => Active;

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

  /** How many are under way. */
  get size(): number {
    return this.#active.size;
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
    await this.#guarded(execution, async (track) => {
      const reactor = await reactors.byId(execution.reactorId);
      if (this.#stopping || !isRunnable(reactor)) return this.#giveBack(execution, reactor);
      const delivered = await this.#delivered(execution, reactor);
      if (delivered === undefined) return;
      const active = track(reactor, delivered);
      const begun = await this.#begin(active, reactor);
      if (begun === undefined) return;
      this.#parts.used(reactor.id);
      await this.#follow(active, begun);
    });
  }

  /** Goes on with a container that an earlier process has started. */
  async adopt(execution: Execution, containerId: string): Promise<void> {
    const { reactors, engine } = this.#parts;
    await this.#guarded(execution, async (track) => {
      const reactor = await reactors.byId(execution.reactorId);
      // Where their key is missing, the log has to wait: nobody could keep them out of it.
      const secrets = await this.#parts.runSecrets.recall(execution.id);
      const active = track(reactor, { values: {}, secrets });
      active.containerId = containerId;
      const output = await engine.replay(containerId);
      await this.#follow(active, { containerId, output, replayed: true });
    });
  }

  /** An execution has no container and will have none: it failed, and is tried again where its reactor wants that. */
  async fail(execution: Execution, words: string): Promise<void> {
    const plan = await this.#planRetry(execution);
    await this.#write(execution, { ...failed(execution, words), isDead: true }, plan);
  }

  /** Ends an execution that is wanted no more. */
  async #drop(execution: Execution, words: string): Promise<void> {
    await this.#write(execution, failed(execution, words));
  }

  async #planRetry(execution: Execution): Promise<RetryPlan | undefined> {
    const { reactors, config } = this.#parts;
    return planRetry(execution, await reactors.byId(execution.reactorId), config);
  }

  /** Lets go of everything that runs: containers go on, and the next service finds them. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const all = [...this.#active.values()];
    for (const active of all) active.detach();
    await Promise.allSettled(all.map(({ settled }) => settled));
  }

  #track(execution: Execution, reactor: Reactor | undefined, delivered: Delivered): Active {
    const active = new Active(execution, this.#rulesOf(execution, reactor, delivered));
    this.#active.set(execution.id, active);
    return active;
  }

  /** Undefined: a secret cannot be read, and the execution has ended for it. */
  async #delivered(execution: Execution, reactor: Reactor): Promise<Delivered | undefined> {
    const { configs, runSecrets } = this.#parts;
    try {
      const delivered = await configs.deliveredTo(reactor);
      await runSecrets.keep(execution.id, delivered.secrets);
      return delivered;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      await this.fail(execution, `could not be run: ${error.message}`);
      return undefined;
    }
  }

  #rulesOf(execution: Execution, reactor: Reactor | undefined, delivered: Delivered): RunRules {
    const { config, tokens } = this.#parts;
    return {
      timeoutSeconds: reactor?.timeoutSeconds ?? config.execution_time_limit,
      memoryBytes: reactor?.memoryBytes ?? config.default_memory,
      logSeconds: reactor?.logSeconds ?? config.log_retention,
      delivered,
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
      if (active.stopWords !== undefined) {
        await this.#drop(execution, `dropped: ${active.stopWords}`);
        return undefined;
      }
      log.warn({ err: error, execution: execution.id }, 'execution could not be run');
      await this.fail(execution, `could not be run: ${sentence(error)}`);
      return undefined;
    }
  }

  async #follow(active: Active, begun: Begun): Promise<void> {
    await this.#markRunning(active);
    const collecting = new Collecting(this.#parts, active.execution, begun.containerId);
    try {
      await this.#seeThrough(active, begun, collecting);
    } finally {
      collecting.stop();
    }
  }

  async #seeThrough(active: Active, begun: Begun, collecting: Collecting): Promise<void> {
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
    await this.#finish(active, begun.containerId, watched, collecting);
    await this.#removeContainer(active);
    await this.#parts.runSecrets
      .forget(active.execution.id, active.rules.delivered.secrets)
      .catch(() => {});
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

  async #finish(
    active: Active,
    containerId: string,
    { end, writer }: Watched,
    collecting: Collecting,
  ): Promise<void> {
    const { engine, log } = this.#parts;
    const { execution, rules } = active;
    const asked = engine.usage(containerId).catch((error: unknown) => {
      log.warn({ err: error, execution: execution.id }, 'what it used is not known');
      return undefined;
    });
    // The log of a spare that was found again may have lost when it began.
    const begunAt = execution.spare === null ? null : execution.startedAt;
    const plain = completed(end, undefined, '', begunAt);
    // A service that was killed while it stopped the container for its time left no other trace of why.
    const overdue = endedByForce.has(end.exitCode) && plain.runtime >= rules.timeoutSeconds;
    const outOfTime = tooLong(rules.timeoutSeconds);
    const stopWords = active.stopWords ?? (overdue ? outOfTime : undefined);
    const isDead = stopWords === undefined ? end.exitCode !== 0 : stopWords === outOfTime;
    const plan = isDead ? await this.#planRetry(execution) : undefined;
    const [usage] = await Promise.all([
      asked,
      plan === undefined ? writer.end() : writer.pause(),
      collecting.finish(),
    ]);
    const words = wordsOf({ end, stopWords, memoryBytes: rules.memoryBytes });
    await this.#write(execution, { ...completed(end, usage, words, begunAt), isDead }, plan);
  }

  async #write(execution: Execution, outcome: Outcome, plan?: RetryPlan): Promise<void> {
    const { executions, wake, expect, freeWorker } = this.#parts;
    const active = this.#active.get(execution.id);
    const signal = active?.letGo;
    if (plan !== undefined && (await putBack(this.#parts, execution, outcome, plan, signal)))
      expect(plan.dueAt);
    else if (await settle(this.#parts, execution, outcome, signal))
      executions.tellSettled(execution.id);
    // Its container is still to be removed, and the next one need not wait for that.
    if (active !== undefined) active.isOver = true;
    freeWorker(execution);
    wake(execution.reactorId);
  }

  async #giveBack(execution: Execution, reactor: Reactor | undefined): Promise<void> {
    if (reactor === undefined || reactor.status === 'SHUTTING_DOWN') {
      await this.#drop(execution, 'dropped: its reactor was deleted before it ran');
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
  async #guarded(execution: Execution, work: (track: Track) => Promise<void>): Promise<void> {
    let active: Active | undefined;
    try {
      await work((reactor, delivered) => {
        active = this.#track(execution, reactor, delivered);
        return active;
      });
    } catch (error) {
      if (!this.#stopping) {
        this.#parts.log.error({ err: error, execution: execution.id }, 'running failed');
        this.#parts.onLost(execution);
      }
    } finally {
      // It may be tried again already, while the container of this try was being removed.
      if (this.#active.get(execution.id) === active) this.#active.delete(execution.id);
      active?.tellSettled();
    }
  }
}

function isRunnable(reactor: Reactor | undefined): reactor is Reactor {
  return reactor?.status === 'READY' && reactor.imageId !== null;
}

const sentence = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
