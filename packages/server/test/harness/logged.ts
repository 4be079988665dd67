import type { RunningService } from './running-service.ts';
import { until } from './until.ts';

/** Waits until the service has written such a line: a reply may be here before what the log says about it. */
export function logged(
  service: Pick<RunningService, 'output'>,
  pattern: RegExp,
): Promise<RegExpExecArray> {
  return until(`a line of the log like ${pattern}`, () => pattern.exec(service.output()) ?? false);
}
