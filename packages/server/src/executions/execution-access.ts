import { type Caller, isAdmin } from '../contract/caller.ts';
import type { PermissionLevel } from '../contract/permission-level.ts';
import { fail, ServiceError } from '../errors.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Store } from '../store/store.ts';
import { type Execution, executionFrom } from './execution.ts';

/** An execution, and the name of whoever owns its reactor. */
export interface OwnedExecution {
  readonly execution: Execution;
  readonly owner: string;
}

/** Other texts name none, and some of them the store could not even be asked for. */
export const isExecutionId = (text: string): boolean => /^[0-9A-Za-z]{1,32}$/.test(text);

export interface AccessParts {
  readonly store: Store;
  readonly reactors: Pick<Reactors, 'byName' | 'forCaller'>;
}

/**
 * The execution, if the caller has the permission on its reactor. Those of a deleted reactor stay readable for whoever
 * owned it, and for admins. `reactorName`: an id or an alias; the execution says which id it is.
 */
export async function visibleExecution(
  { store, reactors }: AccessParts,
  caller: Caller,
  reactorName: string,
  executionId: string,
  needs: PermissionLevel,
): Promise<OwnedExecution> {
  if (!isExecutionId(executionId)) throw unknownExecution(executionId);
  const exists = (await reactors.byName(reactorName)) !== undefined;
  const reactor = exists ? await reactors.forCaller(caller, reactorName, needs) : undefined;
  const row = await store.read
    .selectFrom('executions')
    .leftJoin('users', 'users.id', 'executions.owner_id')
    .selectAll('executions')
    .select('users.username as owner')
    .where('executions.id', '=', executionId)
    .executeTakeFirst();
  if (row === undefined || row.reactor_id !== (reactor?.id ?? reactorName))
    throw unknownExecution(executionId);
  if (reactor === undefined && !owned(caller, row.owner_id)) throw unknownExecution(executionId);
  return { execution: executionFrom(row), owner: row.owner ?? '' };
}

/** Whether a caller who was let in may still read it. Asks no database as long as the reactor is remembered. */
export async function isStillReadable(
  { reactors }: Pick<AccessParts, 'reactors'>,
  caller: Caller,
  reactorName: string,
  execution: Pick<Execution, 'reactorId' | 'ownerId'>,
): Promise<boolean> {
  if ((await reactors.byName(reactorName)) === undefined) return owned(caller, execution.ownerId);
  try {
    return (await reactors.forCaller(caller, reactorName, 'READ')).id === execution.reactorId;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** Whether what a deleted reactor has left is this caller's to see. A nonce ended with its reactor. */
export const owned = (caller: Caller, ownerId: string): boolean =>
  (ownerId === caller.userId && caller.by.kind !== 'nonce') || isAdmin(caller);

/** The application by which the caller came, where there is one. */
export const clientOf = ({ by }: Caller): string | null =>
  (by.kind === 'token' || by.kind === 'nonce') && by.clientId !== '' ? by.clientId : null;

export const unknownExecution = (name: string): ServiceError =>
  fail('unknown_resource', { kind: 'execution', name });
