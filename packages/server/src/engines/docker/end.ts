import type { ContainerEnd } from '../engine.ts';
import type { State } from './shapes.ts';

/** `begunAt`: when its program began, of a container that was there before. */
export function endOf(
  state: State,
  outOfMemory: boolean,
  begunAt: string | undefined,
): ContainerEnd {
  const startedAt = startOf({ ...state, ...(begunAt !== undefined && { StartedAt: begunAt }) });
  return {
    exitCode: state.ExitCode,
    outOfMemory,
    error: state.Error,
    startedAt,
    finishedAt: state.FinishedAt,
    finalState: {
      Dead: state.Dead,
      Error: state.Error,
      ExitCode: state.ExitCode,
      FinishedAt: state.FinishedAt,
      OOMKilled: outOfMemory,
      Paused: state.Paused,
      Pid: state.Pid,
      Restarting: state.Restarting,
      Running: state.Running,
      StartedAt: startedAt,
      Status: state.Status,
    },
  };
}

type Times = Pick<State, 'StartedAt' | 'FinishedAt'>;

/**
 * Docker before 25 notes the time of the start once the container runs, and of one that ends at once it says an end before
 * the start. The end is told by whoever saw it: the start was no later than that.
 */
export function startOf({ StartedAt: started, FinishedAt: finished }: Times): string {
  const end = Date.parse(finished);
  const hasFinished = end > 0;
  return hasFinished && end <= Date.parse(started) ? finished : started;
}
