import {
  ContainerGone,
  type ContainerSummary,
  type Engine,
  EngineRefused,
  EngineUnavailable,
} from '../engines/engine.ts';
import type { Store } from '../store/store.ts';
import { claimedBy } from './claim.ts';
import type { Claiming } from './claiming.ts';
import {
  containerName,
  containerNames,
  executionOf,
  labelsOfInstance,
} from './container-labels.ts';
import type { EngineReturn } from './engine-return.ts';
import type { Execution } from './execution.ts';
import type { Runner } from './run.ts';
import type { Schedule } from './schedule.ts';
import { release, type SettleParts } from './settle.ts';
import type { Spares } from './spares.ts';

export interface RecoverParts extends SettleParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly engineReturn: Pick<EngineReturn, 'wait'>;
  readonly instance: string;
  readonly runner: Runner;
  readonly claiming: Pick<Claiming, 'occupy'>;
  readonly schedule: Pick<Schedule, 'occupy' | 'wake'>;
  readonly spares: Pick<Spares, 'has'>;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

/**
 * Takes up again what an earlier process of this service had claimed, before anything else is claimed. What runs is
 * attached to again, what has ended is settled, what never started is given back to its place in the queue, and what
 * the engine has lost is said to be lost. Containers that belong to nothing go.
 */
export async function recover(parts: RecoverParts): Promise<void> {
  const { store, engine, instance, runner, log } = parts;
  const containers = await whenEngineIsThere(parts, () => engine.list(labelsOfInstance(instance)));
  const claimed = (await claimedBy(store, instance)).filter(({ id }) => !runner.find(id));
  if (claimed.length > 0) log.info({ executions: claimed.length }, 'taking up executions again');
  for (const execution of claimed) await takeUp(parts, execution, containers);
  const known = new Set(claimed.flatMap(containerNames));
  // What waits need not wait for them: after a kill there may be some spares.
  void removeStrangers(parts, containers, known);
}

/** Takes up one execution again that a fault has thrown out of this process. */
export async function recoverOne(parts: RecoverParts, executionId: string): Promise<void> {
  const { store, engine, instance } = parts;
  const labels = labelsOfInstance(instance);
  const containers = await whenEngineIsThere(parts, () => engine.list(labels));
  const claimed = await claimedBy(store, instance);
  const execution = claimed.find(({ id }) => id === executionId);
  if (execution !== undefined) await takeUp(parts, execution, containers);
}

async function takeUp(
  parts: RecoverParts,
  execution: Execution,
  containers: readonly ContainerSummary[],
): Promise<void> {
  const { engine, runner, schedule, log } = parts;
  const unused: ContainerSummary[] = [];
  for (const name of containerNames(execution)) {
    const container = containers.find((each) => each.name === name);
    if (container === undefined) continue;
    if (await hasBegun(parts, execution, container)) {
      schedule.occupy(parts.claiming.occupy(execution, runner.adopt(execution, container.id)));
      return;
    }
    unused.push(container);
  }
  if (execution.status === 'RUNNING') {
    log.warn({ execution: execution.id }, 'the container of an execution has vanished');
    await runner.fail(execution, 'lost: its container vanished from the engine before it ended');
    return;
  }
  // The service that made them is gone before it let them begin, so nobody will.
  for (const { id } of unused) await whenEngineIsThere(parts, () => engine.remove(id));
  await release(parts, execution);
  schedule.wake(execution.reactorId);
}

/** A spare has been started long before, and knows itself whether it was given the message. */
async function hasBegun(
  parts: RecoverParts,
  { spare }: Execution,
  { id, name, state }: ContainerSummary,
): Promise<boolean> {
  if (state === 'created' || name !== spare) return state !== 'created';
  try {
    return (await whenEngineIsThere(parts, () => parts.engine.begun(id))) !== undefined;
  } catch (error) {
    if (error instanceof ContainerGone) return false;
    if (!(error instanceof EngineRefused)) throw error;
    // It holds up nobody else, and must not run twice: whoever takes it up tries again until the engine tells.
    parts.log.warn(
      { err: error, container: name },
      'whether a spare container was used is not known',
    );
    return true;
  }
}

/** Containers of this service whose executions are settled, or of which nothing is known. */
export async function removeStrangers(
  { engine, runner, spares, log }: Pick<RecoverParts, 'engine' | 'runner' | 'spares' | 'log'>,
  containers: readonly ContainerSummary[],
  /** By the names of their containers: an execution that is tried again has left its last one behind. */
  known: ReadonlySet<string>,
): Promise<void> {
  for (const { id, name, labels } of containers) {
    const active = runner.find(executionOf(labels) ?? '');
    if (known.has(name) || spares.has(name)) continue;
    if (active !== undefined && containerName(active.execution) === name) continue;
    try {
      await engine.remove(id);
      log.info({ container: name }, 'removed a container that was left behind');
    } catch (error) {
      log.warn(
        { err: error, container: name },
        'a container that was left behind is removed later',
      );
    }
  }
}

async function whenEngineIsThere<Answer>(
  { engineReturn }: Pick<RecoverParts, 'engineReturn'>,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EngineUnavailable)) throw error;
    }
    await engineReturn.wait();
  }
}
