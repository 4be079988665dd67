import { fail } from '../errors.ts';
import { generatePassword } from './generated-password.ts';
import { shownStatus } from './profile-record.ts';
import type { Terminal } from './terminal.ts';
import { fullNameOf, type User } from './user.ts';
import { checkGrants, checkNewPassword, checkRoles, checkUsername } from './user-rules.ts';
import type { UserChange, Users } from './users.ts';
import type { UsersOptions } from './users-options.ts';

interface Call {
  readonly users: Users;
  /** As many as the action has operands. */
  readonly operands: readonly string[];
  readonly options: UsersOptions;
  readonly terminal: Terminal;
}

interface Action {
  readonly operands: readonly string[];
  readonly options: readonly string[];
  run(call: Call): Promise<void>;
}

const pageSize = 1000;

/** What `reactord users` can do, by its word. */
export const userActions: Readonly<Record<string, Action>> = {
  list: { operands: [], options: ['json'], run: list },
  show: { operands: ['NAME'], options: ['json'], run: show },
  add: {
    operands: ['NAME'],
    options: ['generate', 'email', 'first-name', 'last-name', 'grant', 'role'],
    run: add,
  },
  passwd: { operands: ['NAME'], options: ['generate'], run: setPassword },
  disable: change(
    [],
    () => ({ status: 'disabled' }),
    (name) => `${name} is disabled; its sessions and tokens have ended.`,
  ),
  enable: change(
    [],
    () => ({ status: 'active' }),
    (name) => `${name} is enabled.`,
  ),
  grant: change(
    ['GRANT'],
    (user, grant) => ({ grants: [...user.grants, ...checkGrants([grant])] }),
    (name, grant) => `${name} has the grant ${grant}.`,
  ),
  'revoke-grant': change(
    ['GRANT'],
    (user, grant) => ({ grants: without(user.grants, checkGrants([grant])) }),
    (name, grant) => `${name} does not have the grant ${grant}.`,
  ),
  role: change(
    ['ROLE'],
    (user, role) => ({ roles: [...user.roles, ...checkRoles([role])] }),
    (name, role) => `${name} has the role ${role}.`,
  ),
  'revoke-role': change(
    ['ROLE'],
    (user, role) => ({ roles: without(user.roles, checkRoles([role])) }),
    (name, role) => `${name} does not have the role ${role}.`,
  ),
  remove: { operands: ['NAME'], options: [], run: remove },
};

async function list({ users, options, terminal }: Call): Promise<void> {
  const all: User[] = [];
  for (;;) {
    const after = all.at(-1)?.uid ?? 0;
    const page = await users.search({}, { limit: pageSize, offset: 0, after });
    all.push(...page);
    if (page.length < pageSize) break;
  }
  terminal.say(options.json === true ? toJson(all.map(shown)) : table(all));
}

async function show({ users, operands: [name = ''], options, terminal }: Call): Promise<void> {
  const user = await named(users, name);
  terminal.say(options.json === true ? toJson(shown(user)) : table([user]));
}

async function add({ users, operands: [username = ''], options, terminal }: Call): Promise<void> {
  const { email, grant = [], role = [] } = options;
  // Everything that can be wrong is said before a person types a password twice.
  checkUsername(username);
  const [grants, roles] = [checkGrants(grant), checkRoles(role)];
  await users.refuseTaken(username);
  const password = await newPassword(username, options, terminal);
  const user = await users.create({
    username,
    password,
    email,
    firstName: options['first-name'],
    lastName: options['last-name'],
    grants,
    roles,
  });
  terminal.say(`${user.username} is a user now, with uid ${user.uid}.\n`);
  sayGenerated(options, password, terminal);
}

async function setPassword({ users, operands, options, terminal }: Call): Promise<void> {
  const [username = ''] = operands;
  const { id } = await named(users, username);
  const password = await newPassword(username, options, terminal);
  if ((await users.change(id, { password })) === undefined) throw unknownUser(username);
  terminal.say(`${username} has a new password; its sessions and logins have ended.\n`);
  sayGenerated(options, password, terminal);
}

async function remove({ users, operands: [username = ''], terminal }: Call): Promise<void> {
  const { id } = await named(users, username);
  if (!(await users.remove(id))) throw unknownUser(username);
  terminal.say(`${username} is removed, with everything that was its own.\n`);
}

function change(
  moreOperands: readonly string[],
  wanted: (current: User, operand: string) => UserChange,
  sentence: (name: string, operand: string) => string,
): Action {
  return {
    operands: ['NAME', ...moreOperands],
    options: [],
    async run({ users, operands: [username = '', operand = ''], terminal }) {
      const { id } = await named(users, username);
      const changed = await users.change(id, (current) => wanted(current, operand));
      if (changed === undefined) throw unknownUser(username);
      terminal.say(`${sentence(username, operand)}\n`);
    },
  };
}

async function newPassword(
  username: string,
  options: UsersOptions,
  terminal: Terminal,
): Promise<string> {
  if (options.generate === true) return generatePassword();
  const password = await terminal.readNewPassword(username);
  checkNewPassword(password);
  return password;
}

function sayGenerated(options: UsersOptions, password: string, terminal: Terminal): void {
  if (options.generate === true) terminal.say(`Password: ${password}\n`);
}

async function named(users: Users, username: string): Promise<User> {
  const user = await users.byUsername(username);
  if (user === undefined) throw unknownUser(username);
  return user;
}

const unknownUser = (name: string) => fail('unknown_resource', { kind: 'user', name });

const without = (names: ReadonlySet<string>, gone: readonly string[]): readonly string[] =>
  [...names].filter((name) => !gone.includes(name));

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Never with the hash of the password. */
function shown(user: User) {
  return {
    username: user.username,
    uid: user.uid,
    status: shownStatus(user),
    roles: [...user.roles],
    grants: [...user.grants],
    email: user.email,
    first_name: user.firstName,
    last_name: user.lastName,
    phone: user.phone,
    mobile_phone: user.mobilePhone,
    ...user.details,
    create_time: new Date(user.createdAt).toISOString(),
  };
}

function table(users: readonly User[]): string {
  const heads = ['UID', 'USERNAME', 'STATUS', 'ROLES', 'GRANTS', 'NAME', 'EMAIL'];
  const rows = users.map((user) => [
    String(user.uid),
    user.username,
    shownStatus(user),
    [...user.roles].join(',') || '-',
    [...user.grants].join(',') || '-',
    fullNameOf(user) || '-',
    user.email || '-',
  ]);
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [heads, ...rows]
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
