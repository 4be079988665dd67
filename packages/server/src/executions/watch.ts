import type { Config } from '../config.ts';
import {
  type ContainerEnd,
  ContainerGone,
  type ContainerOutput,
  type Engine,
  EngineUnavailable,
} from '../engines/engine.ts';
import type { Active } from './active.ts';
import type { Begun } from './begin.ts';
import { tooLong } from './end-words.ts';
import type { EngineReturn } from './engine-return.ts';
import type { LogStore, LogWriter } from './log-store.ts';

interface Log {
  error(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface WatchParts {
  readonly engine: Engine;
  readonly engineReturn: Pick<EngineReturn, 'wait'>;
  readonly logs: Pick<LogStore, 'open'>;
  readonly config: Pick<Config, 'log_limit' | 'stop_grace'>;
  readonly log: Log;
}

/** A container that has ended, its output stored as far as the log takes it. */
export interface Watched {
  readonly end: ContainerEnd;
  readonly writer: LogWriter;
}

/**
 * Looks after a container that has started: its output goes into the log, its time is limited, a wish to stop reaches
 * it. Undefined: the service stops and has let go of it. Rejects with ContainerGone when somebody removed it.
 */
export async function watch(
  parts: WatchParts,
  active: Active,
  begun: Begun,
): Promise<Watched | undefined> {
  const { execution, rules } = active;
  const writer = await parts.logs.open(execution.id, {
    limitBytes: parts.config.log_limit,
    secrets: [...(rules.token === undefined ? [] : [rules.token]), ...rules.delivered.secrets],
    keepSeconds: rules.logSeconds,
    attempt: execution.attempt,
  });
  const detached = onAbort(active.letGo);
  active.onStop(() => void stopContainer(parts, active, begun.containerId));
  const clock = limitTime(active);
  try {
    const copying = copyOutput(parts, active, begun, writer);
    const end = await Promise.race([parts.engine.ended(begun.containerId), detached.promise]);
    if (end === undefined) {
      begun.output.close();
      await copying;
      await writer.release();
      return undefined;
    }
    await copying;
    return { end, writer };
  } catch (error) {
    begun.output.close();
    if (error instanceof ContainerGone) await writer.end();
    else await writer.release();
    throw error;
  } finally {
    clearTimeout(clock);
    detached.forget();
  }
}

function onAbort(signal: AbortSignal) {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const leave = () => resolve(undefined);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  return { promise, forget: () => signal.removeEventListener('abort', leave) };
}

/** Counted from the start of the container, also when another process started it. */
function limitTime(active: Active): NodeJS.Timeout {
  const { timeoutSeconds } = active.rules;
  const startedMs = (active.execution.startedAt ?? Date.now() * 1000) / 1000;
  const leftMs = startedMs + timeoutSeconds * 1000 - Date.now();
  return setTimeout(() => active.stop(tooLong(timeoutSeconds)), Math.max(0, leftMs));
}

async function stopContainer(
  parts: WatchParts,
  active: Active,
  containerId: string,
): Promise<void> {
  for (;;) {
    try {
      await parts.engine.stop(containerId, parts.config.stop_grace);
      return;
    } catch (error) {
      if (active.detached) return;
      if (!(error instanceof EngineUnavailable)) {
        parts.log.error({ err: error, execution: active.execution.id }, 'stopping failed');
        return;
      }
    }
    try {
      await parts.engineReturn.wait(active.letGo);
    } catch {
      return;
    }
  }
}

/** Bytes of each stream that the log has or has been given. */
interface Seen {
  stdout: number;
  stderr: number;
}

async function copyOutput(
  parts: WatchParts,
  active: Active,
  begun: Begun,
  writer: LogWriter,
): Promise<void> {
  const seen: Seen = { ...writer.stored };
  let output: ContainerOutput | undefined = begun.output;
  let skip: Seen = begun.replayed ? { ...seen } : { stdout: 0, stderr: 0 };
  while (output !== undefined) {
    try {
      await copy(output, skip, seen, writer, (error) =>
        parts.log.error({ err: error, execution: active.execution.id }, 'output cannot be stored'),
      );
      return;
    } catch (error) {
      if (active.detached || error instanceof ContainerGone) return;
      if (!(error instanceof EngineUnavailable)) throw error;
    }
    output = await replayAgain(parts, active, begun.containerId);
    skip = { ...seen };
  }
}

/** The engine has everything from the first byte; what was seen before it went away is left out. */
async function replayAgain(
  { engine, engineReturn }: WatchParts,
  active: Active,
  containerId: string,
): Promise<ContainerOutput | undefined> {
  for (;;) {
    try {
      await engineReturn.wait(active.letGo);
      return await engine.replay(containerId);
    } catch (error) {
      if (active.letGo.aborted || error instanceof ContainerGone) return undefined;
      if (!(error instanceof EngineUnavailable)) throw error;
    }
  }
}

async function copy(
  output: ContainerOutput,
  skip: Seen,
  seen: Seen,
  writer: LogWriter,
  onUnwritable: (error: unknown) => void,
): Promise<void> {
  const left = { ...skip };
  let writable = true;
  for await (const chunk of output) {
    const { stream, bytes } = chunk;
    const skipped = Math.min(left[stream], bytes.length);
    left[stream] -= skipped;
    if (skipped === bytes.length) continue;
    seen[stream] += bytes.length - skipped;
    if (!writable) continue;
    try {
      await writer.write({ ...chunk, bytes: bytes.subarray(skipped) });
    } catch (error) {
      // The container must not hang because of its log: the rest is read and let go.
      writable = false;
      onUnwritable(error);
    }
  }
}
