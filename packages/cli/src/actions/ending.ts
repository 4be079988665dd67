import type { Api, ReactordClient } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';

type Ended = Pick<Api.Execution, 'status' | 'exitCode' | 'statusMessage' | 'finalState'>;

/** Ends the command as the execution ended: well only when its container exited with 0. */
export function endWith({ status, exitCode, statusMessage, finalState }: Ended): void {
  if (status === 'ERROR')
    throw new CommandFailure('notRun', `It could not be run: ${statusMessage || 'no reason is known'}`);
  if (exitCode === 0 || exitCode === null) return;
  const why = finalState?.Error ? ` (${finalState.Error})` : '';
  throw new CommandFailure('nonZero', `The container exited with code ${exitCode}${why}.`);
}

/** Writes the log of an execution as it is written, until its end; then ends as the execution did. */
export async function follow(
  context: Context,
  client: ReactordClient,
  place: { readonly reactor: string; readonly execution: string },
  options: { readonly tail?: number; readonly stream?: 'stdout' | 'stderr'; readonly times?: boolean } = {},
): Promise<void> {
  const { output } = context;
  const { reactor, execution } = place;
  const left = () => {
    output.note(`\nIt goes on. Follow it again: reactord logs -f ${reactor} ${execution}`);
    process.exit(130);
  };
  process.once('SIGINT', left);
  const { times, ...rest } = options;
  let atLineStart = true;
  for await (const line of client.executions.followLogs(reactor, execution, rest)) {
    if (output.isJson) {
      output.jsonLine(line);
      continue;
    }
    const time = times && atLineStart ? output.colours.dim(`${line.time} `) : '';
    if (line.stream === 'stdout') output.raw(time + line.text);
    else output.errorRaw(time + (line.stream === 'notice' ? output.noteColours.dim(line.text) : line.text));
    atLineStart = line.text.endsWith('\n');
  }
  process.off('SIGINT', left);
  if (!atLineStart && output.isTerminal) output.line();
  const record = await client.executions.get(reactor, execution);
  if (output.isJson) {
    const { status, exitCode, statusMessage } = record;
    output.jsonLine({ end: { status, exitCode, statusMessage } });
  }
  endWith(record);
  if (output.isWatched)
    output.note(`${output.noteColours.green('✔')} ${output.noteColours.dim(`ended well after ${record.runtime} s`)}`);
}
