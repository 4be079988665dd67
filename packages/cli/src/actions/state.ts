import type { Context } from '../context.ts';
import { operand, reactorId, wordsOrInput } from '../operands.ts';
import type { Operands } from '../run.ts';

export async function get(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const kept = await client.states.get(await reactorId(client, operand(operands, 0)));
  if (context.output.isJson) return context.output.json(kept);
  context.output.json(kept.state);
}

export async function set(
  context: Context,
  operands: Operands,
  { ifMatch }: { readonly ifMatch?: string },
): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const text = await wordsOrInput(operands[1]);
  const kept = await client.states.set(id, read(text), { ifMatch });
  if (context.output.isJson) return context.output.json(kept);
  context.output.note('The state is replaced.');
}

/** What is JSON is taken as it, the rest as text. */
function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
