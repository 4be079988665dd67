import { newId } from '../ids.ts';
import type { Execution } from './execution.ts';

/** How the containers of executions are known again, by this process and by one that comes after it. */

const instanceLabel = 'reactord.instance';
const executionLabel = 'reactord.execution';
const reactorLabel = 'reactord.reactor';

/** The name is the identity: the engine refuses a second container of that name, so no try of an execution starts twice. */
export const containerName = ({ id, attempt }: Pick<Execution, 'id' | 'attempt'>): string =>
  attempt > 1 ? `reactord-${id}-${attempt}` : `reactord-${id}`;

/** A container that is made before anybody knows for which execution. That one's claim has the name. */
export const spareName = (): string => `reactord-spare-${newId()}`;

/** Those in which this try of an execution may run, the spare first. */
export const containerNames = (execution: Pick<Execution, 'id' | 'attempt' | 'spare'>): string[] =>
  execution.spare === null
    ? [containerName(execution)]
    : [execution.spare, containerName(execution)];

/** Those of this service; others on the same engine are none of its business. */
export const labelsOfInstance = (instance: string): Readonly<Record<string, string>> => ({
  [instanceLabel]: instance,
});

export const labelsToFind = (
  instance: string,
  executionId: string,
): Readonly<Record<string, string>> => ({
  ...labelsOfInstance(instance),
  [executionLabel]: executionId,
});

export const labelsOf = (
  instance: string,
  reactorId: string,
  executionId: string,
): Readonly<Record<string, string>> => ({
  ...labelsToFind(instance, executionId),
  [reactorLabel]: reactorId,
});

export const labelsOfSpare = (
  instance: string,
  reactorId: string,
): Readonly<Record<string, string>> => ({
  ...labelsOfInstance(instance),
  [reactorLabel]: reactorId,
});

export const executionOf = (labels: Readonly<Record<string, string>>): string | undefined =>
  labels[executionLabel];
