import type { CallOptions } from '../api.ts';
import type { GivenResult } from '../generated/api.ts';
import { Context } from './context.ts';

/** For programs inside a container that the service has started. Node only. */

let own: Context | undefined;

/** The message, who posted it, and everything else that this execution was told. */
export function getContext(): Context {
  own ??= new Context(process.env);
  return own;
}

/**
 * Changes what the reactor remembers for its next executions, and resolves with the new state. A function gets the state as
 * it is now and returns the new one; when somebody else changes it at the same time, it is asked again.
 */
export async function updateState<State = unknown>(
  change: State | Change<State>,
  options: CallOptions = {},
): Promise<State> {
  const { client, actor_id } = getContext();
  const { state } = isChange(change)
    ? await client.states.update<State>(actor_id, change, options)
    : await client.states.set<State>(actor_id, change, options);
  return state;
}

type Change<State> = (state: State) => State | Promise<State>;

/** A function is no state: it cannot be JSON. */
const isChange = <State>(change: State | Change<State>): change is Change<State> =>
  typeof change === 'function';

/** Gives a result: bytes and text as they are, everything else as JSON. As often as you like. */
export function sendResult(result: unknown, options?: CallOptions): Promise<GivenResult> {
  const { client, actor_id, execution_id } = getContext();
  return client.results.give(actor_id, execution_id, encode(result), options);
}

function encode(result: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof result === 'string') return result;
  // A view of memory that is shared, or of a pool as Node's small buffers are.
  if (ArrayBuffer.isView(result))
    return new Uint8Array(new Uint8Array(result.buffer, result.byteOffset, result.byteLength));
  if (result instanceof ArrayBuffer) return new Uint8Array(result);
  const text = JSON.stringify(result);
  if (text === undefined)
    throw new TypeError('result: takes bytes, text, or something that can be JSON');
  return text;
}

export type { Context } from './context.ts';
