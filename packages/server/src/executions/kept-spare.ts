import type { Config } from '../config.ts';
import type { Engine, Spare } from '../engines/engine.ts';
import type { Reactor } from '../reactors/reactor.ts';
import { labelsOfSpare, spareName } from './container-labels.ts';
import { type ContainerDefaults, containerOf } from './container-spec.ts';
import { datagramSocket } from './environment.ts';

/** A spare from the moment in which it is being made. */
export interface KeptSpare {
  readonly name: string;
  readonly reactorId: string;
  /** What it was made for: a reactor that has changed since has no use for it. */
  readonly plan: string;
  /** Never rejects. Undefined: nothing came of it. */
  readonly made: Promise<Spare | undefined>;
  /** Nothing came of it because something went wrong, which it need not do again. */
  hasFailed: boolean;
  /** Once it is there. */
  spare: Spare | undefined;
  /** A claim tries to win something for it. */
  isTried: boolean;
  /** The claim gave the execution its token. */
  isGranted: boolean;
}

/** A container for one execution, ready. */
export interface CollectedSpare {
  readonly spare: Spare;
  /** The execution has its token. */
  readonly isGranted: boolean;
}

export interface MakingParts {
  readonly engine: Pick<Engine, 'spare'>;
  readonly instance: string;
  readonly config: ContainerDefaults & Pick<Config, 'second_prefix'>;
  readonly log: { warn(facts: object, message: string): void };
}

/** What of a reactor is built into its containers. The rest they are given later. */
export const planOf = (reactor: Reactor, config: ContainerDefaults): string =>
  JSON.stringify(containerOf(reactor, config));

/** Begins to make one. */
export function makeSpare(parts: MakingParts, reactor: Reactor): KeptSpare {
  const { engine, config, instance, log } = parts;
  const name = spareName();
  const kept: KeptSpare = {
    name,
    reactorId: reactor.id,
    plan: planOf(reactor, config),
    made: engine
      .spare({
        ...containerOf(reactor, config),
        name,
        labels: labelsOfSpare(instance, reactor.id),
        datagrams: datagramSocket(config.second_prefix),
      })
      .then(
        (spare) => {
          kept.spare = spare;
          return spare;
        },
        (error: unknown) => {
          log.warn({ err: error, reactor: reactor.id }, 'a spare container could not be made');
          kept.hasFailed = true;
          return undefined;
        },
      ),
    hasFailed: false,
    spare: undefined,
    isTried: false,
    isGranted: false,
  };
  return kept;
}
