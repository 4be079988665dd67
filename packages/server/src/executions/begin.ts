import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config.ts';
import {
  type ContainerOutput,
  type ContainerSpec,
  type Engine,
  EngineUnavailable,
  ImageGone,
} from '../engines/engine.ts';
import type { ImageKeeper } from '../reactors/images.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { ReactorStates } from '../reactors/reactor-states.ts';
import type { Store } from '../store/store.ts';
import { StoreUnavailable } from '../store/store-errors.ts';
import type { Active } from './active.ts';
import { containerName, labelsOf, labelsToFind } from './container-labels.ts';
import { type ContainerDefaults, containerOf } from './container-spec.ts';
import type { EngineReturn } from './engine-return.ts';
import { type HandOver, handOver } from './environment.ts';
import type { Execution } from './execution.ts';
import { type ExecutionTokens, tokenSeconds } from './execution-token.ts';
import type { CollectedSpare } from './kept-spare.ts';
import type { LargeTurns } from './large-turns.ts';
import type { Spares } from './spares.ts';

export interface BeginParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly engineReturn: Pick<EngineReturn, 'wait'>;
  readonly tokens: ExecutionTokens;
  readonly instance: string;
  readonly config: ContainerDefaults & Pick<Config, 'tenant' | 'second_prefix' | 'stop_grace'>;
  /** The address at which the container reaches the service. */
  readonly apiServer: () => Promise<string>;
  /** Fetches an image again that the engine has lost. Rejects with PullFailed: then the reactor is in ERROR. */
  readonly images: Pick<ImageKeeper, 'ensureImage'>;
  readonly states: Pick<ReactorStates, 'textOf'>;
  readonly largeTurns: LargeTurns;
  readonly spares: Pick<Spares, 'collect' | 'whileCold'>;
}

/** A container that has started. */
export interface Begun {
  readonly containerId: string;
  readonly output: ContainerOutput;
  /** The output begins with the container's first byte again, whatever the log has of it. */
  readonly replayed: boolean;
}

/** How often a start that the engine refuses is tried. One that waits for the engine or the store is not counted. */
const mostTries = 3;
const pausesMs = [200, 1_000];

/**
 * Lets the execution begin: in the spare container that its claim took, or in one that is made now. Rejects when it
 * cannot be done, and leaves no container then.
 */
export async function begin(parts: BeginParts, active: Active, reactor: Reactor): Promise<Begun> {
  const collected = await parts.spares.collect(active.execution, reactor);
  const begun = collected && (await beginInSpare(parts, active, reactor, collected));
  return begun ?? beginAnew(parts, active, reactor);
}

/** Undefined: it was of no use, the execution has not begun, and the spare is gone. */
async function beginInSpare(
  parts: BeginParts,
  active: Active,
  reactor: Reactor,
  { spare, isGranted }: CollectedSpare,
): Promise<Begun | undefined> {
  const { engine, largeTurns } = parts;
  const { execution, beginning } = active;
  const { id } = spare;
  active.containerId = id;
  let isGiven = false;
  try {
    if (spare.isUsable()) {
      const environment = await largeTurns.take(execution.messageSize, beginning, async () => {
        const [given] = await Promise.all([
          gather(parts, active, reactor),
          isGranted ? undefined : grantToken(parts, active),
        ]);
        if (given.files.length > 0) await engine.handOver(id, given.files);
        return given.environment;
      });
      beginning.throwIfAborted();
      isGiven = true;
      return { containerId: id, output: await spare.begin(environment), replayed: false };
    }
  } catch (error) {
    // Where it fails for a reason that lasts, it does so once more in a container of its own, and says why.
    if (beginning.aborted && !isGiven) throw error;
  }
  const begun = isGiven ? await askSpare(parts, active, id) : undefined;
  if (begun === undefined) await removeQuietly(engine, active);
  return begun;
}

/** Only the container knows whether it got everything. One that is gone may have: it is not run again. */
async function askSpare(
  { engine, engineReturn }: BeginParts,
  { letGo }: Active,
  id: string,
): Promise<Begun | undefined> {
  for (;;) {
    try {
      if ((await engine.begun(id)) === undefined) return undefined;
      return { containerId: id, output: await engine.replay(id), replayed: true };
    } catch (error) {
      if (!(error instanceof EngineUnavailable)) throw error;
      await engineReturn.wait(letGo);
    }
  }
}

async function beginAnew(parts: BeginParts, active: Active, given: Reactor): Promise<Begun> {
  let reactor = given;
  for (let tries = 1; ; ) {
    active.beginning.throwIfAborted();
    try {
      const tried = reactor;
      return await parts.spares.whileCold(() => tryToBegin(parts, active, tried));
    } catch (error) {
      if (active.beginning.aborted) throw error;
      if (error instanceof EngineUnavailable) {
        await parts.engineReturn.wait(active.beginning);
        continue;
      }
      if (error instanceof StoreUnavailable) {
        await pause(1_000, undefined, { signal: active.beginning });
        continue;
      }
      if (error instanceof ImageGone && tries < mostTries) {
        reactor = await withImage(parts, active, reactor);
      }
      await removeQuietly(parts.engine, active);
      const wait = pausesMs[tries - 1];
      if (tries >= mostTries || wait === undefined) throw error;
      tries += 1;
      await pause(wait, undefined, { signal: active.beginning });
    }
  }
}

/** The reactor with the image that the engine has now. */
async function withImage(
  { images, engineReturn }: BeginParts,
  active: Active,
  reactor: Reactor,
): Promise<Reactor> {
  for (;;) {
    try {
      return { ...reactor, imageId: (await images.ensureImage(reactor)).id };
    } catch (error) {
      if (!(error instanceof EngineUnavailable)) throw error;
      await engineReturn.wait(active.beginning);
    }
  }
}

async function tryToBegin(parts: BeginParts, active: Active, reactor: Reactor): Promise<Begun> {
  const { engine, largeTurns } = parts;
  const { messageSize } = active.execution;
  const { id, hasStarted } = await largeTurns.take(messageSize, active.beginning, () =>
    make(parts, active, reactor),
  );
  if (hasStarted) return { containerId: id, output: await engine.replay(id), replayed: true };
  const output = await engine.attach(id);
  try {
    active.beginning.throwIfAborted();
    await engine.start(id);
  } catch (error) {
    output.close();
    throw error;
  }
  return { containerId: id, output, replayed: false };
}

/** Everything that the container is given. */
async function gather(parts: BeginParts, active: Active, reactor: Reactor): Promise<HandOver> {
  const { store, config } = parts;
  const { execution, rules } = active;
  const message = await store.read
    .selectFrom('messages')
    .select('body')
    .where('execution_id', '=', execution.id)
    .executeTakeFirstOrThrow();
  return handOver({
    reactor,
    execution,
    message: message.body,
    state: reactor.stateless ? undefined : await parts.states.textOf(reactor.id),
    token: rules.token ?? '',
    configs: rules.delivered.values,
    apiServer: await parts.apiServer(),
    tenant: config.tenant,
    secondPrefix: config.second_prefix,
  });
}

async function grantToken(
  { store, tokens, config }: BeginParts,
  { execution, rules }: Active,
): Promise<void> {
  if (rules.token === undefined) return;
  const seconds = tokenSeconds(rules.timeoutSeconds, config.stop_grace);
  await store.write(tokens.grant(execution, seconds));
}

/** Makes the container, with everything that it is given. */
async function make(
  parts: BeginParts,
  active: Active,
  reactor: Reactor,
): Promise<{ readonly id: string; readonly hasStarted: boolean }> {
  const { engine } = parts;
  const { execution } = active;
  const given = await gather(parts, active, reactor);
  const [{ id, adopted }] = await Promise.all([
    engine.create(specOf(parts, active, reactor, given)),
    grantToken(parts, active),
  ]);
  active.containerId = id;
  // The answer to an earlier try was lost. Whether that one started the container decides how its output is read.
  if (adopted && (await hasStarted(parts, execution))) return { id, hasStarted: true };
  if (given.files.length > 0) await engine.handOver(id, given.files);
  return { id, hasStarted: false };
}

function specOf(
  { config, instance }: BeginParts,
  { execution }: Active,
  reactor: Reactor,
  { environment, datagrams }: HandOver,
): ContainerSpec {
  return {
    ...containerOf(reactor, config),
    name: containerName(execution),
    environment,
    datagrams,
    labels: labelsOf(instance, reactor.id, execution.id),
  };
}

async function hasStarted(
  { engine, instance }: BeginParts,
  execution: Execution,
): Promise<boolean> {
  const name = containerName(execution);
  const containers = await engine.list(labelsToFind(instance, execution.id));
  return containers.some((container) => container.name === name && container.state !== 'created');
}

async function removeQuietly(engine: Engine, active: Active): Promise<void> {
  const { containerId } = active;
  active.containerId = undefined;
  // Should it not work, the reaper finds it by its label.
  if (containerId !== undefined) await engine.remove(containerId).catch(() => undefined);
}
