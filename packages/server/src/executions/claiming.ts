import type { Config } from '../config.ts';
import { type QuotaDefaults, quotaOf } from '../identity/quotas.ts';
import type { Reactor } from '../reactors/reactor.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import { type ClaimingSpare, claim } from './claim.ts';
import type { Execution } from './execution.ts';
import { type ExecutionTokens, tokenSeconds } from './execution-token.ts';
import type { KeptSpare } from './kept-spare.ts';
import type { OwnerPlaces } from './owner-places.ts';
import type { Runner } from './run.ts';
import type { Spares } from './spares.ts';
import type { WorkerPlaces } from './worker-places.ts';

interface Parts {
  readonly store: Store;
  readonly instance: string;
  readonly reactors: Pick<Reactors, 'byId'>;
  readonly runner: Pick<Runner, 'run' | 'hasRoomFor'>;
  readonly workers: WorkerPlaces;
  readonly owners: OwnerPlaces;
  readonly spares: Pick<Spares, 'take' | 'claimed' | 'done'>;
  readonly tokens: Pick<ExecutionTokens, 'grantWithClaim'>;
  readonly config: QuotaDefaults & Pick<Config, 'stop_grace'>;
}

/**
 * A claim with what it takes on this machine: a worker of the reactor, one of the containers of its owner, and a spare
 * container where there is one.
 */
export class Claiming {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async claim(reactorId: string): Promise<Execution | undefined> {
    const { store, instance, reactors, runner, workers, owners, spares, config } = this.#parts;
    // What memory knows to be in vain need not be asked of the store: most messages arrive while others run.
    const reactor = await reactors.byId(reactorId);
    if (reactor === undefined) return undefined;
    const { ownerId } = reactor;
    if (!runner.hasRoomFor(reactor)) {
      owners.passOn(ownerId);
      return undefined;
    }
    if (!owners.take(ownerId, reactorId, quotaOf(reactor, 'containers', config))) return undefined;
    const worker = workers.take(reactorId);
    const spare = spares.take(reactor);
    let claimed: Execution | undefined;
    let isSure = false;
    try {
      claimed = await claim(
        store,
        reactorId,
        instance,
        worker,
        spare && this.#with(spare, reactor),
      );
      isSure = true;
      return claimed;
    } finally {
      workers.claimed(reactorId, worker.id, claimed);
      if (spare !== undefined) spares.claimed(spare, claimed, isSure);
      if (claimed === undefined) owners.giveBack(ownerId);
    }
  }

  #with(spare: KeptSpare, { id, token, timeoutSeconds }: Reactor): ClaimingSpare {
    const { tokens, config } = this.#parts;
    const { name } = spare;
    spare.isGranted = token;
    if (!token) return { name };
    const seconds = tokenSeconds(timeoutSeconds, config.stop_grace);
    return { name, grant: tokens.grantWithClaim(id, name, seconds) };
  }

  async run(execution: Execution): Promise<void> {
    const { runner, workers, owners, spares } = this.#parts;
    await runner.run(execution);
    spares.done(execution);
    workers.free(execution);
    owners.giveBack(execution.ownerId);
  }

  /** What an earlier process has claimed takes the same. */
  async occupy(execution: Execution, running: Promise<void>): Promise<void> {
    const { workers, owners } = this.#parts;
    workers.occupy(execution);
    owners.take(execution.ownerId, execution.reactorId, undefined);
    await running;
    workers.free(execution);
    owners.giveBack(execution.ownerId);
  }
}
