import { type Caller, isAdmin } from '../contract/caller.ts';
import { fail, type ServiceError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import { type Execution, executionFrom } from './execution.ts';

/** An execution, and the name of whoever owns its reactor. */
export interface OwnedExecution {
  readonly execution: Execution;
  readonly owner: string;
}

/** Other texts name none, and some of them the store could not even be asked for. */
export const isExecutionId = (text: string): boolean => /^[0-9A-Za-z]{1,32}$/.test(text);

/**
 * The execution, if this caller may know of it. Its record says whose it is, so that those of a deleted reactor stay
 * readable for their owner.
 */
export async function visibleExecution(
  store: Store,
  caller: Caller,
  reactorId: string,
  executionId: string,
): Promise<OwnedExecution> {
  if (!isExecutionId(executionId)) throw unknownExecution(executionId);
  const row = await store.read
    .selectFrom('executions')
    .leftJoin('users', 'users.id', 'executions.owner_id')
    .selectAll('executions')
    .select('users.username as owner')
    .where('executions.id', '=', executionId)
    .executeTakeFirst();
  if (row === undefined || row.reactor_id !== reactorId) throw unknownExecution(executionId);
  if (row.owner_id !== caller.userId && !isAdmin(caller)) throw unknownExecution(executionId);
  return { execution: executionFrom(row), owner: row.owner ?? '' };
}

export const unknownExecution = (name: string): ServiceError =>
  fail('unknown_resource', { kind: 'execution', name });
