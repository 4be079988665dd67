import type { ContainerEnd } from '../engine.ts';
import type { State } from './shapes.ts';

export function endOf(state: State, outOfMemory: boolean): ContainerEnd {
  const startedAt = startOf(state);
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

/**
 * Docker before 25 notes the time of the start once the container runs, and of one that ends at once it says an end before
 * the start. The end is told by whoever saw it: the start was no later than that.
 */
function startOf({ StartedAt, FinishedAt }: State): string {
  const finished = Date.parse(FinishedAt);
  const hasFinished = finished > 0;
  return hasFinished && finished <= Date.parse(StartedAt) ? FinishedAt : StartedAt;
}
