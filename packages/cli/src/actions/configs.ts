import type { Context } from '../context.ts';
import { operand, reactorId, wordsOrInput } from '../operands.ts';
import type { Operands } from '../run.ts';
import { ago } from '../terminal/words.ts';

export async function list(context: Context): Promise<void> {
  const client = await context.client();
  const { output } = context;
  output.table(
    await client.configs.list({ limit: 1000 }).toArray(),
    [
      { title: 'NAME', text: ({ name }) => name },
      {
        title: 'VALUE',
        text: ({ isSecret, value }) => (isSecret ? '(secret)' : (value ?? '')),
        paint: (text, { isSecret }, colours) => (isSecret ? colours.dim(text) : text),
        flexible: true,
      },
      { title: 'FOR', text: ({ actors }) => actors, flexible: true },
      {
        title: 'CHANGED',
        text: ({ lastUpdateTime }) => ago(lastUpdateTime),
        plain: ({ lastUpdateTime }) => lastUpdateTime,
      },
    ],
    'There are none. Make one: reactord configs set NAME VALUE --for REACTOR',
  );
}

export async function show(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const config = await client.configs.get(operand(operands, 0));
  const { output } = context;
  output.facts(config, [
    ['Name', config.name],
    ['Value', config.isSecret ? '(secret)' : (config.value ?? '')],
    ['For', config.actors],
    ['Owner', config.owner],
    ['Changed', ago(config.lastUpdateTime)],
  ]);
}

export async function set(
  context: Context,
  operands: Operands,
  { secret, for: reactors }: { readonly secret?: boolean; readonly for?: readonly string[] },
): Promise<void> {
  const name = operand(operands, 0);
  const given = await wordsOrInput(operands[1]);
  // Standard input ends with a line end that nobody means.
  const value =
    operands[1] === undefined || operands[1] === '-' ? given.replace(/\r?\n$/, '') : given;
  const client = await context.client();
  const { NotFoundError } = await import('@reactord/client');
  const actors: string[] = [];
  for (const reactor of reactors ?? []) actors.push(await reactorId(client, reactor));
  const fields = {
    value,
    ...(secret === true && { isSecret: true }),
    ...(reactors !== undefined && { actors }),
  };
  const { output } = context;
  let verb = 'Changed';
  const config = await client.configs.update(name, fields).catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
    verb = 'Made';
    return client.configs.create({ name, actors, ...fields });
  });
  if (output.isJson) return output.json(config);
  output.note(`${verb} ${name}${config.actors === '' ? '; no reactor gets it yet (--for)' : ''}.`);
}

export async function remove(context: Context, operands: Operands): Promise<void> {
  const name = operand(operands, 0);
  const client = await context.client();
  await client.configs.delete(name);
  if (context.output.isJson) return context.output.json({ deleted: name });
  context.output.note(`Deleted ${name}.`);
}
