import type { Api, ReactordClient } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { Progress } from '../terminal/progress.ts';

type Ended = Pick<Api.Execution, 'status' | 'exitCode' | 'statusMessage' | 'finalState'>;

/** Ends the command as the execution ended: well only when its container exited with 0. */
export function endWith({ status, exitCode, statusMessage, finalState }: Ended): void {
  if (status === 'ERROR')
    throw new CommandFailure(
      'notRun',
      `It could not be run: ${statusMessage || 'no reason is known'}`,
    );
  if (exitCode === 0 || exitCode === null) return;
  const why = finalState?.Error ? ` (${finalState.Error})` : '';
  throw new CommandFailure('nonZero', `The container exited with code ${exitCode}${why}.`);
}

/** Writes the log of an execution as it is written, until its end; then ends as the execution did. */
export async function follow(
  context: Context,
  client: ReactordClient,
  place: Place,
  options: Shown = {},
): Promise<void> {
  const { output } = context;
  const { reactor, execution } = place;
  const left = () => {
    output.note(`\nIt goes on. Follow it again: reactord logs -f ${reactor} ${execution}`);
    process.exit(130);
  };
  process.once('SIGINT', left);
  await writeLog(context, client, place, options);
  process.off('SIGINT', left);
  const record = await client.executions.get(reactor, execution);
  if (output.isJson) {
    const { status, exitCode, statusMessage } = record;
    output.jsonLine({ end: { status, exitCode, statusMessage } });
  }
  endWith(record);
  if (output.isWatched) {
    const { green, dim } = output.noteColours;
    output.note(`${green('✔')} ${dim(`ended well after ${record.runtime} s`)}`);
  }
}

interface Place {
  readonly reactor: string;
  readonly execution: string;
}

interface Shown {
  readonly tail?: number;
  readonly stream?: 'stdout' | 'stderr';
  readonly times?: boolean;
}

/** Both streams where they belong, as they come, until the end of the execution. */
export async function writeLog(
  { output }: Context,
  client: ReactordClient,
  { reactor, execution }: Place,
  { times, ...part }: Shown,
): Promise<void> {
  const progress = new Progress(output, 'Waiting for its first line…');
  let atLineStart = true;
  for await (const line of client.executions.followLogs(reactor, execution, part)) {
    progress.end();
    if (output.isJson) {
      output.jsonLine(line);
      continue;
    }
    const time = times && atLineStart ? output.colours.dim(`${line.time} `) : '';
    if (line.stream === 'stdout') output.raw(time + line.text);
    else if (line.stream === 'stderr') output.errorRaw(time + line.text);
    else output.note(output.noteColours.dim(line.text.trimEnd()));
    atLineStart = line.text.endsWith('\n');
  }
  progress.end();
  if (!atLineStart && output.isTerminal) output.line();
}
