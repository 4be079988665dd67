import type { Api } from '@reactord/client';
import type { Context } from '../context.ts';
import { operand } from '../operands.ts';
import type { Operands } from '../run.ts';
import { ago } from '../terminal/words.ts';

export async function list(context: Context): Promise<void> {
  const client = await context.client();
  context.output.table(
    await client.clients.list({ limit: 1000 }).toArray(),
    [
      { title: 'NAME', text: ({ name }) => name, flexible: true },
      { title: 'KEY', text: ({ key }) => key },
      { title: 'TIER', text: ({ tier }) => tier },
      { title: 'CALLBACK', text: ({ callbackUrl }) => callbackUrl, flexible: true },
      {
        title: 'MADE',
        text: ({ createTime }) => ago(createTime),
        plain: ({ createTime }) => createTime,
      },
    ],
    'There are none. Register one: reactord clients create NAME',
  );
}

interface CreateOptions {
  readonly description?: string;
  readonly callback?: readonly string[];
  readonly tier?: string;
  readonly flow?: readonly string[];
}

export async function create(
  context: Context,
  operands: Operands,
  { description, callback, tier, flow }: CreateOptions,
): Promise<void> {
  const client = await context.client();
  const made = await client.clients.create({
    clientName: operand(operands, 0),
    ...(description !== undefined && { description }),
    ...(callback !== undefined && { callbackUrls: callback }),
    ...(tier !== undefined && { tier }),
    ...(flow !== undefined && { flows: flow.filter(isFlow) }),
  });
  showSecret(context, made);
}

const flows = [
  'authorization_code',
  'implicit',
  'password',
  'client_credentials',
  'device',
] as const;
type Flow = (typeof flows)[number];

/** What is none is left to the service to refuse, which says what there is. */
const isFlow = (given: string): given is Flow => given !== '';

function showSecret(
  { output }: Context,
  made: Api.ClientWithSecret | Api.ClientWithNewSecret,
): void {
  output.facts(made, [
    ['Name', made.name],
    ['Key', made.key],
    ['Secret', made.secret],
  ]);
  output.note(output.noteColours.dim('The secret is shown this once; keep it.'));
}

export async function show(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const one = await client.clients.get(operand(operands, 0));
  context.output.facts(one, [
    ['Name', one.name],
    ['Description', one.description || undefined],
    ['Key', one.key],
    ['Tier', one.tier],
    ['Flows', one.flows.join(', ')],
    ['Callbacks', one.callbackUrls.join(', ') || undefined],
    ['PKCE', one.requirePkce ? 'needed' : undefined],
    ['Made', ago(one.createTime)],
  ]);
}

export async function rotate(
  context: Context,
  operands: Operands,
  { overlap }: { readonly overlap?: number },
): Promise<void> {
  const client = await context.client();
  showSecret(context, await client.clients.rotateSecret(operand(operands, 0), { overlap }));
}

export async function subscriptions(
  context: Context,
  operands: Operands,
  { add, rm }: { readonly add?: readonly string[]; readonly rm?: readonly string[] },
): Promise<void> {
  const name = operand(operands, 0);
  const client = await context.client();
  if (rm !== undefined) await client.subscriptions.remove(name, rm);
  if (add !== undefined) await client.subscriptions.add(name, add);
  context.output.table(
    await client.subscriptions.list(name),
    [
      { title: 'API', text: (each) => each.name },
      { title: 'PATH', text: ({ context: path }) => path },
      { title: 'VERSION', text: ({ version }) => version },
      { title: 'STATUS', text: ({ status }) => status },
    ],
    'It may call no API. Let it: reactord clients subscriptions NAME --add "*"',
  );
}

export async function remove(context: Context, operands: Operands): Promise<void> {
  const name = operand(operands, 0);
  const client = await context.client();
  await client.clients.delete(name);
  if (context.output.isJson) return context.output.json({ deleted: name });
  context.output.note(`Deleted ${name}, and ended its tokens.`);
}
