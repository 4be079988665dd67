import type { ContainerEnd } from '../engine.ts';
import type { State } from './shapes.ts';

/** `begunAt`: when its program began, of a container that was there before. */
export function endOf(
  state: State,
  outOfMemory: boolean,
  begunAt: string | undefined,
): ContainerEnd {
  const startedAt = begunAt ?? state.StartedAt;
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
