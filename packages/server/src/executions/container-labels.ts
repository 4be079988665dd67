import type { Execution } from './execution.ts';

/** How the containers of executions are known again, by this process and by one that comes after it. */

const instanceLabel = 'reactord.instance';
const executionLabel = 'reactord.execution';
const reactorLabel = 'reactord.reactor';

/** The name is the identity: the engine refuses a second container of that name, so no try of an execution starts twice. */
export const containerName = ({ id, attempt }: Pick<Execution, 'id' | 'attempt'>): string =>
  attempt > 1 ? `reactord-${id}-${attempt}` : `reactord-${id}`;

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

export const executionOf = (labels: Readonly<Record<string, string>>): string | undefined =>
  labels[executionLabel];
