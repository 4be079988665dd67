import type { ReactordClient } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { operand, reactorId } from '../operands.ts';
import type { Operands } from '../run.ts';
import { ago } from '../terminal/words.ts';

const levels = ['NONE', 'READ', 'EXECUTE', 'UPDATE'] as const;
type Level = (typeof levels)[number];

function readLevel(given: string): Level {
  const level = levels.find((each) => each === given.toUpperCase());
  if (level !== undefined) return level;
  throw new CommandFailure(
    'usage',
    `${JSON.stringify(given)} is not a level; there are ${levels.join(', ')}.`,
  );
}

export async function share(context: Context, operands: Operands): Promise<void> {
  const user = operands[1];
  const level = readLevel(operands[2] ?? 'EXECUTE');
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const permissions =
    user === undefined
      ? await client.permissions.get(id)
      : await client.permissions.set(id, user, level);
  const { output } = context;
  if (output.isJson) return output.json(permissions);
  output.table(
    Object.entries(permissions),
    [
      { title: 'USER', text: ([name]) => name },
      { title: 'LEVEL', text: ([, each]) => String(each) },
    ],
    'Nobody may use it.',
  );
}

export async function createNonce(
  context: Context,
  operands: Operands,
  options: { readonly level: string; readonly uses?: number; readonly description?: string },
): Promise<void> {
  const level = readLevel(options.level);
  if (level === 'NONE') throw new CommandFailure('usage', 'A nonce at level NONE opens nothing.');
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const { uses: maxUses, description } = options;
  const nonce = await client.nonces.create(id, {
    level,
    ...(maxUses !== undefined && { maxUses }),
    ...(description !== undefined && { description }),
  });
  const { output } = context;
  if (output.isJson) return output.json(nonce);
  const address = `${client.baseUrl}/actors/v2/${id}/messages?x-nonce=${nonce.id}`;
  if (!output.isTerminal) return output.line(address);
  output.line(address);
  output.note(
    `Whoever has this address may ${level === 'READ' ? 'read' : 'run'} the reactor${maxUses === undefined ? '' : `, ${maxUses === 1 ? 'once' : `${maxUses} times`}`}. Take it back with:\n  reactord reactors nonce rm ${id} ${nonce.id}`,
  );
}

export async function listNonces(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  context.output.table(
    await client.nonces.list(id, { limit: 1000 }).toArray(),
    [
      { title: 'NONCE', text: (nonce) => nonce.id ?? '(unreadable)' },
      { title: 'LEVEL', text: ({ level }) => level },
      { title: 'USED', text: ({ currentUses }) => String(currentUses), right: true },
      {
        title: 'LEFT',
        text: ({ remainingUses }) => (remainingUses === -1 ? '∞' : String(remainingUses)),
        plain: ({ remainingUses }) => String(remainingUses),
        right: true,
      },
      {
        title: 'LAST USE',
        text: ({ lastUseTime }) => ago(lastUseTime) || 'never',
        plain: ({ lastUseTime }) => lastUseTime,
      },
      { title: 'DESCRIPTION', text: ({ description }) => description, flexible: true },
    ],
    'It has none.',
  );
}

export async function removeNonce(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const nonce = operand(operands, 1);
  await client.nonces.delete(id, nonce);
  if (context.output.isJson) return context.output.json({ deleted: nonce });
  context.output.note('It opens nothing any more.');
}

export async function listAliases(context: Context): Promise<void> {
  const client = await context.client();
  context.output.table(
    await client.aliases.list({ limit: 1000 }).toArray(),
    [
      { title: 'ALIAS', text: ({ alias }) => alias },
      { title: 'REACTOR', text: ({ actorId }) => actorId },
      { title: 'OWNER', text: ({ owner }) => owner, flexible: true },
    ],
    'There are none. Make one: reactord reactors alias set ALIAS REACTOR',
  );
}

/** Makes the alias, or moves it where it is there already. */
export async function giveAlias(client: ReactordClient, alias: string, actorId: string) {
  const { ConflictError } = await import('@reactord/client');
  try {
    return await client.aliases.create({ alias, actorId });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return await client.aliases.move(alias, actorId);
  }
}

export async function setAlias(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 1));
  const made = await giveAlias(client, operand(operands, 0), id);
  if (context.output.isJson) return context.output.json(made);
  context.output.note(`${made.alias} names ${made.actorId}.`);
}

export async function removeAlias(context: Context, operands: Operands): Promise<void> {
  const alias = operand(operands, 0);
  const client = await context.client();
  await client.aliases.delete(alias);
  if (context.output.isJson) return context.output.json({ deleted: alias });
  context.output.note(`${alias} names nothing any more.`);
}
