import { randomInt } from 'node:crypto';
import type { Api } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { operand } from '../operands.ts';
import type { Action, Operands } from '../run.ts';
import { askSecret, firstLine } from '../terminal/ask.ts';

type AnyProfile = Api.Profile | Api.PublicProfile;

/** Who is no admin is told names alone. */
const whole = (user: AnyProfile): Api.Profile | undefined => ('roles' in user ? user : undefined);

export async function list(
  context: Context,
  _operands: Operands,
  { search }: { readonly search?: string },
): Promise<void> {
  const client = await context.client();
  const users: AnyProfile[] = await client.users.list({ limit: 1000, name: search }).toArray();
  context.output.table(
    users,
    [
      { title: 'USERNAME', text: ({ username }) => username },
      { title: 'NAME', text: (user) => whole(user)?.full_name ?? '', flexible: true },
      { title: 'EMAIL', text: (user) => whole(user)?.email ?? '', flexible: true },
      { title: 'STATUS', text: (user) => whole(user)?.status ?? '' },
      { title: 'ROLES', text: (user) => whole(user)?.roles.join(',') ?? '' },
      { title: 'GRANTS', text: (user) => whole(user)?.grants.join(',') ?? '' },
    ],
    'There is nobody of that name.',
  );
}

export async function show(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  showUser(context, await client.users.get(operand(operands, 0)));
}

function showUser({ output }: Context, user: AnyProfile): void {
  const all = whole(user);
  output.facts(user, [
    ['Username', user.username],
    ['Name', all?.full_name || undefined],
    ['Email', all?.email || undefined],
    ['Status', all?.status],
    ['Roles', all === undefined ? undefined : all.roles.join(', ') || 'none'],
    ['Grants', all === undefined ? undefined : all.grants.join(', ') || 'none'],
    ['Uid', all === undefined ? undefined : String(all.uid)],
  ]);
}

interface PasswordOptions {
  readonly generate?: boolean;
  readonly passwordStdin?: boolean;
}

interface AddOptions extends PasswordOptions {
  readonly email?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly grant?: readonly string[];
  readonly role?: readonly string[];
}

export async function add(
  context: Context,
  operands: Operands,
  options: AddOptions,
): Promise<void> {
  const username = operand(operands, 0);
  const client = await context.client();
  const secret = await newPassword(username, options);
  const { email, firstName, lastName, grant, role } = options;
  const user = await client.users.create({
    username,
    password: secret.password,
    ...(email !== undefined && { email }),
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(grant !== undefined && { grants: grant }),
    ...(role !== undefined && { roles: role }),
  });
  tellPassword(context, user, secret, `Made ${username}.`);
}

export async function password(
  context: Context,
  operands: Operands,
  options: PasswordOptions,
): Promise<void> {
  const username = operand(operands, 0);
  const client = await context.client();
  const secret = await newPassword(username, options);
  const user = await client.users.update(username, { password: secret.password });
  tellPassword(
    context,
    user,
    secret,
    `The password of ${username} is changed; it has to log in again.`,
  );
}

interface NewPassword {
  readonly password: string;
  readonly generated: boolean;
}

async function newPassword(
  username: string,
  { generate, passwordStdin }: PasswordOptions,
): Promise<NewPassword> {
  if (generate) return { password: madeUp(), generated: true };
  if (passwordStdin || !process.stdin.isTTY)
    return { password: await firstLine('password'), generated: false };
  const first = await askSecret(`New password of ${username}: `);
  if (first !== (await askSecret('The same again: ')))
    throw new CommandFailure('failed', 'The two passwords differ; nothing was changed.');
  return { password: first, generated: false };
}

/** Letters and digits that are not mistaken for one another, in groups that can be read out. */
function madeUp(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789';
  const group = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}

function tellPassword(
  { output }: Context,
  user: Api.Profile,
  { password: text, generated }: NewPassword,
  sentence: string,
): void {
  if (output.isJson) {
    output.json(generated ? { ...user, password: text } : user);
    return;
  }
  output.note(sentence);
  if (!generated) return;
  output.line(output.isTerminal ? `Password  ${output.colours.bold(text)}` : text);
  output.note(output.noteColours.dim('It is shown this once.'));
}

const fields = { grant: 'grants', role: 'roles' } as const;

export const given =
  (word: 'grant' | 'revoke-grant' | 'role' | 'revoke-role'): Action<object> =>
  async (context, operands) => {
    const [username, name] = [operand(operands, 0), operand(operands, 1)];
    const field = fields[word.endsWith('grant') ? 'grant' : 'role'];
    const client = await context.client();
    const now = whole(await client.users.get(username));
    if (now === undefined) throw new CommandFailure('forbidden', 'Only an admin can do that.');
    const others: readonly string[] = now[field].filter((each) => each !== name);
    const names = word.startsWith('revoke') ? others : [...others, name];
    showUser(context, await client.users.update(username, { [field]: names }));
  };

export const turn =
  (on: boolean): Action<object> =>
  async (context, operands) => {
    const username = operand(operands, 0);
    const client = await context.client();
    const user = await client.users.update(username, { status: on ? 'Active' : 'Inactive' });
    if (context.output.isJson) return context.output.json(user);
    context.output.note(on ? `${username} may log in again.` : `${username} is kept out.`);
  };

export async function remove(context: Context, operands: Operands): Promise<void> {
  const username = operand(operands, 0);
  const client = await context.client();
  await client.users.delete(username);
  if (context.output.isJson) return context.output.json({ deleted: username });
  context.output.note(`Removed ${username} with everything it owned.`);
}
