import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { executionId, operand, reactorId } from '../operands.ts';
import type { Operands } from '../run.ts';
import { follow, writeLog } from './ending.ts';

interface Options {
  readonly follow?: boolean;
  readonly tail?: number;
  readonly stream?: string;
  readonly times?: boolean;
}

export async function logs(context: Context, operands: Operands, options: Options): Promise<void> {
  const { tail, times } = options;
  const stream = readStream(options.stream);
  const client = await context.client();
  const reactor = await reactorId(client, operand(operands, 0));
  const execution = await executionId(client, reactor, operands[1]);
  const part = { ...(tail !== undefined && { tail }), ...(stream !== undefined && { stream }) };
  const { output } = context;
  if (options.follow)
    return await follow(
      context,
      client,
      { reactor, execution },
      { ...part, times: times === true },
    );
  if (times) {
    // Only the stream of events knows the times.
    if ((await client.executions.get(reactor, execution)).finishTime === null)
      throw new CommandFailure('usage', 'It still runs.', 'Add -f to follow it with times.');
    return await writeLog(context, client, { reactor, execution }, { ...part, times });
  }
  const log = await client.executions.logs(reactor, execution, part);
  if (output.isJson) return output.json({ executionId: execution, logs: log.logs });
  output.raw(log.logs);
  if (log.logs === '') output.note(output.noteColours.dim('It has written nothing.'));
  else if (output.isTerminal && !log.logs.endsWith('\n')) output.line();
}

function readStream(given: string | undefined): 'stdout' | 'stderr' | undefined {
  if (given === undefined || given === 'stdout' || given === 'stderr') return given;
  throw new CommandFailure('usage', '--stream takes stdout or stderr.');
}
