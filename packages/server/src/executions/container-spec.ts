import type { Config } from '../config.ts';
import type { ContainerSpec } from '../engines/engine.ts';
import type { Reactor } from '../reactors/reactor.ts';

export type ContainerDefaults = Pick<
  Config,
  'default_memory' | 'default_cpus' | 'most_processes' | 'log_limit'
>;

/** What all containers of a reactor have in common, until it is changed. */
export function containerOf(
  reactor: Reactor,
  config: ContainerDefaults,
): Pick<ContainerSpec, 'image' | 'limits' | 'logBytes' | 'group' | 'privileged'> {
  return {
    // The content and not the name: a tag that has moved since the reactor became ready changes nothing.
    image: reactor.imageId ?? reactor.image,
    limits: {
      memoryBytes: reactor.memoryBytes ?? config.default_memory,
      cpus: reactor.cpus ?? config.default_cpus,
      processes: config.most_processes,
    },
    logBytes: config.log_limit,
    group: reactor.id,
    privileged: reactor.privileged,
  };
}
