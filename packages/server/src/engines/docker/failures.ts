import { ContainerGone, EngineRefused } from '../engine.ts';

/** An answer of the Docker API with an error status. Where it means something to a caller, it becomes another error. */
export class DockerRefusal extends EngineRefused {
  readonly status: number;

  constructor(status: number, body: string) {
    super(messageIn(body) || `it answered ${status}`);
    this.status = status;
  }
}

/** Errors carry their message as {"message": "…"}; a proxy in front of an engine may answer with anything. */
function messageIn(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null && 'message' in parsed)
      return String(parsed.message).trim();
  } catch {
    // Not JSON.
  }
  return body.trim().slice(0, 500);
}

export function reasonOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return String(error);
  // Where a name has several addresses, Node wraps one error for each and leaves the message empty.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error.message || error.name;
}

export const isRefusal = (error: unknown, ...statuses: readonly number[]): error is DockerRefusal =>
  error instanceof DockerRefusal && statuses.includes(error.status);

/** Runs a call on one container and turns refusals into the port's errors. */
export async function onContainer<Value>(
  container: string,
  what: string,
  act: () => Promise<Value>,
): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw meaningOf(error, container, what);
  }
}

function meaningOf(error: unknown, container: string, what: string): unknown {
  if (!(error instanceof DockerRefusal)) return error;
  // Podman has other statuses for some of them.
  if (/no such container/i.test(error.message)) return new ContainerGone(container);
  return refused(error, what);
}

/** `what` completes "The engine does not …". */
export function refused(error: DockerRefusal, what: string): EngineRefused {
  return new EngineRefused(`The engine does not ${what}: ${error.message}`);
}
