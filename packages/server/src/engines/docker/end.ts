import type { ContainerEnd } from '../engine.ts';
import type { State } from './shapes.ts';

export function endOf(state: State, outOfMemory: boolean): ContainerEnd {
  return {
    exitCode: state.ExitCode,
    outOfMemory,
    error: state.Error,
    startedAt: state.StartedAt,
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
      StartedAt: state.StartedAt,
      Status: state.Status,
    },
  };
}
