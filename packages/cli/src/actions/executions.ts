import type { Context } from '../context.ts';
import { executionId, operand, reactorId } from '../operands.ts';
import type { Operands } from '../run.ts';
import { ago, bytes, cpuSeconds, paintStatus, readTime, span } from '../terminal/words.ts';

export async function list(
  context: Context,
  operands: Operands,
  { limit }: { readonly limit: number },
): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const executions = await client.executions
    .list(id, { limit: Math.min(limit, 1000) })
    .toArray(limit);
  context.output.table(
    executions,
    [
      { title: 'ID', text: (each) => each.id },
      {
        title: 'STATUS',
        text: ({ status }) => status,
        paint: (text, execution, colours) => paintStatus(text, shownAs(execution), colours),
      },
      {
        title: 'EXIT',
        text: ({ exitCode }) => (exitCode === null ? '' : String(exitCode)),
        paint: (text, { exitCode }, colours) => (exitCode ? colours.red(text) : text),
        right: true,
      },
      {
        title: 'RECEIVED',
        text: ({ messageReceivedTime }) => ago(messageReceivedTime),
        plain: ({ messageReceivedTime }) => messageReceivedTime,
      },
      {
        title: 'RAN',
        text: ({ startTime, finishTime }) => ran(startTime, finishTime),
        right: true,
      },
      { title: 'BY', text: ({ executor }) => executor, flexible: true },
    ],
    `Nothing has run yet. Send a message: reactord send ${operands[0]} hello`,
  );
}

/** A container that failed is COMPLETE too, and looks like what it is. */
const shownAs = ({
  status,
  exitCode,
}: {
  readonly status: string;
  readonly exitCode: number | null;
}): string => (exitCode ? 'ERROR' : status);

function ran(startTime: string | null, finishTime: string | null): string {
  const from = readTime(startTime);
  if (from === undefined) return '';
  return span(Math.round(((readTime(finishTime) ?? Date.now()) - from) / 1000));
}

export async function show(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const record = await client.executions.get(id, await executionId(client, id, operands[1]));
  const { output } = context;
  const why = record.statusMessage || record.finalState?.Error || '';
  output.facts(record, [
    ['Id', record.id],
    ['Reactor', record.actorId],
    [
      'Status',
      why === '' ? record.status : `${record.status}: ${why}`,
      (text) => paintStatus(text, shownAs(record), output.colours),
    ],
    ['Exit code', record.exitCode === null ? undefined : String(record.exitCode)],
    ['Sent by', record.executor],
    ['Try', record.attempt === 1 ? undefined : String(record.attempt)],
    ['Received', when(record.messageReceivedTime)],
    ['Started', when(record.startTime)],
    ['Finished', when(record.finishTime)],
    ['Used', `${record.runtime} s, ${cpuSeconds(record.cpu)} of CPU, ${bytes(record.io)} of I/O`],
    ['Worker', record.workerId ?? undefined],
  ]);
}

const when = (time: string | null): string | undefined =>
  time === null ? undefined : `${time.slice(0, 19)} UTC (${ago(time)})`;

export async function halt(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const execution = operand(operands, 1);
  await client.executions.halt(id, execution);
  if (context.output.isJson) return context.output.json({ halted: execution });
  context.output.note(`${execution} is being stopped.`);
}
