import type { Result } from '@reactord/client';
import type { Context } from '../context.ts';
import { decoded, operand, reactorId } from '../operands.ts';
import type { Operands } from '../run.ts';

interface Options {
  readonly all?: boolean;
  readonly keep?: boolean;
}

export async function results(
  context: Context,
  operands: Operands,
  { all, keep }: Options,
): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const executionId = operands[1];
  const { output } = context;
  let count = 0;
  const show = (result: Result): void => {
    count += 1;
    if (output.isJson) {
      output.jsonLine(asJson(result));
      return;
    }
    output.raw(result.bytes);
    if (all || output.isTerminal) output.line();
  };
  if (keep && all)
    for await (const result of client.results.list(id, { executionId })) show(result);
  else
    for (;;) {
      const result = keep
        ? await client.results.peek(id, { executionId })
        : await client.results.take(id, { executionId });
      if (result !== undefined) show(result);
      if (result === undefined || !all) break;
    }
  if (count === 0) output.note(output.noteColours.dim('There is none.'));
}

function asJson(result: Result): object {
  const { executionId, index, bytes } = result;
  const text = decoded(bytes);
  const content = text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text };
  return { executionId, index, ...content };
}
