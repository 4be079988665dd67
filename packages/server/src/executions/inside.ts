import type { Caller } from '../contract/caller.ts';
import type { Store } from '../store/store.ts';
import { isOver } from './execution.ts';
import type { ExecutionTokens } from './execution-token.ts';
import type { Executions } from './executions.ts';
import { busyWorkers } from './worker-rows.ts';

interface Parts {
  readonly store: Store;
  readonly executions: Pick<Executions, 'byId'>;
  readonly tokens: Pick<ExecutionTokens, 'isOf'>;
}

interface Asking {
  readonly headers: { readonly authorization?: string | undefined };
  readonly caller: Caller | null;
}

/** The token with which a request came; empty when there is none. */
export const bearerOf = ({ headers }: Pick<Asking, 'headers'>): string =>
  /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';

/** Whether an execution of the reactor calls, which has not ended yet: its token proves it, whoever it acts for. */
export async function isFromInside(
  { store, executions, tokens }: Parts,
  request: Asking,
  reactorId: string,
): Promise<boolean> {
  const by = request.caller?.by;
  if (by?.kind !== 'token' || by.flow !== 'execution') return false;
  const token = bearerOf(request);
  for (const executionId of (await busyWorkers(store, reactorId)).values()) {
    const execution = await executions.byId(executionId);
    if (execution !== undefined && !isOver(execution) && tokens.isOf(execution, token)) return true;
  }
  return false;
}
