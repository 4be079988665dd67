import type { ReactordClient, Schedule } from '@reactord/client';
import type { Context } from '../context.ts';
import { operand, reactorId } from '../operands.ts';
import type { Action, Operands } from '../run.ts';
import { ago } from '../terminal/words.ts';

export const show = (context: Context, operands: Operands): Promise<void> =>
  withSchedule(context, operands, (client, id) => client.schedules.get(id));

export const set = (context: Context, operands: Operands): Promise<void> =>
  withSchedule(context, operands, (client, id) => client.schedules.set(id, operand(operands, 1)));

export const turn =
  (on: boolean): Action<object> =>
  (context, operands) =>
    withSchedule(context, operands, (client, id) => client.schedules.turn(id, on));

export const remove = (context: Context, operands: Operands): Promise<void> =>
  withSchedule(context, operands, (client, id) => client.schedules.clear(id));

async function withSchedule(
  context: Context,
  operands: Operands,
  work: (client: ReactordClient, id: string) => Promise<Schedule>,
): Promise<void> {
  const client = await context.client();
  const schedule = await work(client, await reactorId(client, operand(operands, 0)));
  const { schedule: text, on, nextTime } = schedule;
  const { output } = context;
  if (text === null && !output.isJson) return output.note('It has no schedule.');
  output.facts(schedule, [
    ['Schedule', text ?? ''],
    ['Is', on ? 'on' : 'off'],
    ['Next', nextTime === null ? undefined : `${nextTime} (${ago(nextTime)})`],
  ]);
}
