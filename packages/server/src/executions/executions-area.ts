import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { Configs } from '../configs/configs.ts';
import type { RunSecrets } from '../configs/run-secrets.ts';
import type { Engine } from '../engines/engine.ts';
import type { Identity } from '../identity/identity.ts';
import type { ReactorsArea } from '../reactors/reactors-area.ts';
import type { Store } from '../store/store.ts';
import { AnswerWaiting } from './answer-waiting.ts';
import { ApiAddress, type Served } from './api-address.ts';
import { hasReadyReactor, reactorsWithWork } from './claim.ts';
import { Claiming } from './claiming.ts';
import { DueMessages } from './due.ts';
import { EngineReturn } from './engine-return.ts';
import type { Execution } from './execution.ts';
import { ExecutionTokens } from './execution-token.ts';
import { Executions } from './executions.ts';
import { fulfilWishes, halt } from './halt.ts';
import { LargeTurns } from './large-turns.ts';
import type { LogStore } from './log-store.ts';
import { assembleLogs, type LogsArea } from './logs-area.ts';
import { OwnerPlaces } from './owner-places.ts';
import { endAllOf } from './reactor-removal.ts';
import { Reaper } from './reap.ts';
import { recover, recoverOne } from './recover.ts';
import type { Results } from './results.ts';
import { Runner } from './run.ts';
import { Schedule } from './schedule.ts';
import { WorkerPlaces } from './worker-places.ts';

interface Parts {
  readonly store: Store;
  readonly logs: LogStore;
  readonly results: Results;
  readonly config: Config;
  readonly identity: Pick<Identity, 'changes'>;
  readonly area: Pick<ReactorsArea, 'reactors' | 'images' | 'states'>;
  readonly configs: Configs;
  readonly runSecrets: RunSecrets;
  readonly engine: Engine;
  readonly instance: string;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
    error(facts: object, message: string): void;
  };
}

/** From the message to its end: everything of this folder that the rest uses, put together once. */
export interface ExecutionsArea {
  readonly executions: Executions;
  readonly logs: LogsArea;
  readonly results: Results;
  readonly tokens: ExecutionTokens;
  /** Those who wait for the answer to their message. */
  readonly waiting: AnswerWaiting;
  readonly halt: (execution: Pick<Execution, 'id'>, by: string) => Promise<boolean>;
  /** A message has been accepted for this reactor. */
  readonly wake: (reactorId: string) => void;
  /** A message has been accepted that is to run at this time, in microseconds. */
  readonly expect: (dueAt: number) => void;
  readonly workers: {
    readonly places: WorkerPlaces;
    readonly containerOf: (executionId: string) => string | undefined;
  };
  /**
   * Takes up what an earlier process has left, and then begins to run what waits. `served`: what containers may ask
   * of this process; without it they are sent to the service's base URL.
   */
  start(served: Served | undefined): void;
  /** Lets go of what runs; containers go on. */
  stop(): Promise<void>;
}

const recoverAgainMs = 2_000;

export async function assembleExecutions(parts: Parts): Promise<ExecutionsArea> {
  const { store, results, config, identity, area, engine, instance, log } = parts;
  const { reactors, images, states } = area;
  const { changes } = identity;
  const tokens = await ExecutionTokens.open(store);
  const executions = new Executions(store);
  const logs = assembleLogs({ ...parts, executions, reactors });
  const engineReturn = new EngineReturn(engine, log);
  const address = new ApiAddress({ engine, baseUrl: config.base_url, host: config.host, log });
  const waiting = new AnswerWaiting({ executions, results, most: config.waiting_replies });
  let stopping = false;

  const runner: Runner = new Runner({
    store,
    changes,
    tokens,
    engine,
    engineReturn,
    images,
    states,
    largeTurns: new LargeTurns(),
    reactors,
    configs: parts.configs,
    runSecrets: parts.runSecrets,
    executions,
    results,
    logs: logs.logs,
    instance,
    config,
    log,
    apiServer: () => address.url(),
    wake: (reactorId) => schedule.wake(reactorId),
    expect: (dueAt) => due.expect(dueAt),
    freeWorker: (execution) => workers.free(execution),
    onLost: ({ id }) => void takeUpLater(id),
  });
  const wake = (reactorId: string): void => schedule.wake(reactorId);
  const due = new DueMessages({ store, wake, log });
  const workers = new WorkerPlaces({ store, instance, idleLimit: config.worker_idle_limit, log });
  const owners = new OwnerPlaces(wake);
  const claiming = new Claiming({ store, instance, reactors, runner, workers, owners, config });
  const schedule: Schedule = new Schedule({
    places: config.containers_at_once,
    claim: (reactorId) => claiming.claim(reactorId),
    run: (execution) => claiming.run(execution),
    withWork: async () => {
      await fulfilWishes(store, runner, instance);
      return reactorsWithWork(store);
    },
    log,
  });
  const recovery = {
    store,
    changes,
    tokens,
    engine,
    engineReturn,
    instance,
    runner,
    claiming,
    schedule,
    log,
  };
  const reaper = new Reaper(recovery);

  /** Tries until it is done: until then nothing else may claim. */
  const takeUpAll = async (): Promise<void> => {
    while (!stopping) {
      try {
        await workers.load();
        return await recover(recovery);
      } catch (error) {
        if (!stopping) log.error({ err: error }, 'taking up executions again failed');
      }
      await pause(recoverAgainMs, undefined, { ref: false });
    }
  };
  const takeUpLater = async (executionId: string): Promise<void> => {
    for (;;) {
      await pause(recoverAgainMs, undefined, { ref: false });
      if (stopping) return;
      try {
        return await recoverOne(recovery, executionId);
      } catch (error) {
        log.error({ err: error, execution: executionId }, 'taking up an execution again failed');
      }
    }
  };

  // Nothing is made on the engine before there is a reactor that could need it.
  let engaged = false;
  const engage = (): void => {
    if (engaged) return;
    engaged = true;
    void address.open();
    void engine.prepare().catch(() => undefined);
  };
  reactors.onReady((reactorId) => {
    engage();
    schedule.wake(reactorId);
  });
  reactors.onRemoved((reactorId) => void workers.forgetReactor(reactorId));
  reactors.onRemoving((reactor, by) => endAllOf({ store, runner, executions }, reactor, by));

  return {
    executions,
    logs,
    results,
    tokens,
    waiting,
    halt: (execution, by) => halt(store, runner, execution, by),
    wake,
    expect: (dueAt) => due.expect(dueAt),
    workers: {
      places: workers,
      containerOf: (executionId) => runner.find(executionId)?.containerId,
    },
    start: (served) => {
      logs.start();
      if (served !== undefined) address.serve(served);
      void takeUpAll().then(() => {
        if (stopping) return;
        void hasReadyReactor(store).then(
          (has) => has && engage(),
          () => undefined,
        );
        schedule.start({ hearsNothing: served === undefined });
        due.start();
        workers.start();
        reaper.start();
      });
    },
    stop: async () => {
      stopping = true;
      waiting.stop();
      schedule.stop();
      due.stop();
      workers.stop();
      reaper.stop();
      engineReturn.stop();
      await Promise.all([runner.stop(), address.close()]);
      await logs.stop();
    },
  };
}
