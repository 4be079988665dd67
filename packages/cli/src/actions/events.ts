import type { EventType, ToldEvent } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { reactorId } from '../operands.ts';
import type { Operands } from '../run.ts';
import { paintStatus } from '../terminal/words.ts';

interface Options {
  readonly past?: boolean;
  readonly limit?: number;
  readonly reactor?: string;
  readonly type?: string;
  readonly all?: boolean;
}

const known = [
  'ACTOR_READY',
  'ACTOR_ERROR',
  'EXECUTION_STARTED',
  'EXECUTION_COMPLETE',
  'EXECUTION_ERROR',
] as const satisfies readonly EventType[];

export async function events(
  context: Context,
  _operands: Operands,
  { past, limit = Number.POSITIVE_INFINITY, reactor, type, all }: Options,
): Promise<void> {
  const types = type?.split(',').map(readType);
  const client = await context.client();
  const id = reactor === undefined ? undefined : await reactorId(client, reactor);
  // Whoever stops it has seen enough.
  process.once('SIGINT', () => process.exit(0));
  if (!past)
    context.output.note(context.output.noteColours.dim('Waiting for events; Ctrl-C ends it.'));
  let count = 0;
  const after = past ? '0' : undefined;
  for await (const event of client.events.follow({ reactorId: id, types, all, after })) {
    show(context, event);
    count += 1;
    if (count >= limit) return;
  }
}

function readType(given: string): EventType {
  const type = known.find((each) => each === given.trim().toUpperCase());
  if (type !== undefined) return type;
  throw new CommandFailure(
    'usage',
    `${JSON.stringify(given)} is not a type of event; there are ${known.join(', ')}.`,
  );
}

function show({ output }: Context, event: ToldEvent): void {
  if (output.isJson) {
    output.jsonLine(event);
    return;
  }
  const {
    event_time_utc: time,
    event_type: type,
    actor_id: actor,
    execution_id: execution,
  } = event;
  const code = event.exit_code == null ? '' : `exit ${event.exit_code}`;
  const cells = [time, type, actor, execution ?? '', code, event.status_message];
  if (!output.isTerminal) {
    output.line(cells.join('\t'));
    return;
  }
  const { colours } = output;
  const status = type.endsWith('ERROR') || (event.exit_code ?? 0) !== 0 ? 'ERROR' : event.status;
  output.line(
    [
      colours.dim(time),
      paintStatus(type.padEnd(18), status, colours),
      actor,
      execution ?? '',
      code,
      event.status_message,
    ]
      .filter((cell) => cell !== '')
      .join('  '),
  );
}
