import { spawn } from 'node:child_process';
import { type DeviceCode, OAuth, OAuthError, type Token } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { clientId } from '../profiles/kept-login.ts';
import { type Profile, serverAddress, usualName } from '../profiles/profile.ts';
import type { Operands } from '../run.ts';
import { askSecret, firstLine } from '../terminal/ask.ts';
import { Progress } from '../terminal/progress.ts';

interface LoginOptions {
  readonly username?: string;
  readonly passwordStdin?: boolean;
  readonly token?: boolean;
  readonly tokenStdin?: boolean;
  readonly browser: boolean;
}

/** A person waits: a service that is not there is told of soon. */
const retry = { retries: 2 };

export async function login(
  context: Context,
  [given]: Operands,
  options: LoginOptions,
): Promise<void> {
  const server = given === undefined ? context.server : serverAddress(given);
  if (server === undefined)
    throw new CommandFailure(
      'usage',
      `${JSON.stringify(given)} is not the address of a service.`,
      'It looks like https://reactors.example.org.',
    );
  if (travelsInClear(server))
    context.output.note(
      `${context.output.noteColours.yellow('Careful:')} ${server} is not encrypted; what you send can be read on the way.`,
    );
  const token = await getToken(context, server, options);
  const { ReactordClient } = await import('@reactord/client');
  const client = new ReactordClient({ baseUrl: server, auth: token.accessToken, retry });
  const { username } = await client.users.me();
  const profile: Profile = { server, username, ...token };
  const name = context.wanted.profile ?? usualName(server);
  let before: Profile | undefined;
  await context.file.change((now) => {
    before = now.profiles[name];
    return { current: name, profiles: { ...now.profiles, [name]: profile } };
  });
  const { output } = context;
  // The login that this one takes the place of would count for ever, and nobody would know of it.
  if (before !== undefined) await revoke(before, () => undefined);
  if (output.isJson) return output.json({ profile: name, server, username });
  output.note(`${output.noteColours.green('Logged in')} as ${username} at ${server}.`);
}

const travelsInClear = (server: string): boolean =>
  server.startsWith('http:') && !/^(localhost|127\.|\[::1\])/.test(new URL(server).hostname);

type Tokens = Pick<Profile, 'accessToken' | 'refreshToken' | 'expiresAt'>;

async function getToken(context: Context, server: string, options: LoginOptions): Promise<Tokens> {
  if (options.token || options.tokenStdin) {
    const accessToken = options.tokenStdin
      ? await firstLine('token')
      : await askSecret('Access token: ');
    return { accessToken: accessToken.trim() };
  }
  const oauth = new OAuth({ baseUrl: server, clientId, retry });
  try {
    if (options.username === undefined) return kept(await byDevice(context, oauth, options));
    const password = options.passwordStdin
      ? await firstLine('password')
      : await askSecret(`Password of ${options.username}: `);
    return kept(await oauth.password(options.username, password));
  } catch (error) {
    throw error instanceof OAuthError ? loginFailure(error, options) : error;
  }
}

const kept = ({ accessToken, refreshToken, expiresAt }: Token): Tokens => ({
  accessToken,
  refreshToken,
  expiresAt,
});

async function byDevice(context: Context, oauth: OAuth, { browser }: LoginOptions): Promise<Token> {
  const { output } = context;
  const { bold, cyan } = output.noteColours;
  let progress: Progress | undefined;
  const show = (code: DeviceCode): void => {
    // With --json too: without it nobody could log in.
    output.error(`Open ${cyan(code.verificationUri)} and type the code ${bold(code.userCode)}`);
    output.error(`or open ${cyan(code.verificationUriComplete)}`);
    if (browser && openBrowser(code.verificationUriComplete)) output.error('A browser was opened.');
    progress = new Progress(output, 'Waiting for you to confirm…');
  };
  try {
    return await oauth.device({ show });
  } finally {
    progress?.end();
  }
}

/** Only where a person sits in front of a screen. */
function openBrowser(address: string): boolean {
  const { platform, env, stderr } = process;
  const hasScreen = platform === 'darwin' || !!env['DISPLAY'] || !!env['WAYLAND_DISPLAY'];
  if (!stderr.isTTY || !hasScreen || env['SSH_CONNECTION']) return false;
  const program = platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(program, [address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
  return child.pid !== undefined;
}

function loginFailure(error: OAuthError, { username }: LoginOptions): CommandFailure {
  switch (error.code) {
    case 'unsupported_grant_type':
    case 'unauthorized_client':
      return new CommandFailure(
        'login',
        'This service does not let you log in in this way.',
        username === undefined ? 'Use --username.' : 'Log in with a browser: reactord login',
      );
    case 'access_denied':
      return new CommandFailure('login', 'The login was denied.');
    case 'invalid_client':
      return new CommandFailure(
        'login',
        'This service does not know the command line.',
        'It may be of an older version; use login --token with a token of one of your clients.',
      );
    default:
      return new CommandFailure('login', error.message);
  }
}

export async function logout(
  context: Context,
  _operands: Operands,
  { all }: { readonly all?: boolean },
): Promise<void> {
  const { output, file } = context;
  const chosen = context.profile();
  const ended: string[] = [];
  if (all !== true && chosen === undefined)
    throw new CommandFailure('login', 'You are not logged in.', 'See: reactord profiles');
  await file.change(async (now) => {
    const left = { ...now.profiles };
    for (const [name, profile] of Object.entries(now.profiles)) {
      if (all !== true && name !== chosen?.name) continue;
      await revoke(profile, output.note.bind(output));
      delete left[name];
      ended.push(name);
    }
    const current =
      now.current !== undefined && now.current in left ? now.current : Object.keys(left)[0];
    return { current, profiles: left };
  });
  if (output.isJson) return output.json({ ended });
  for (const name of ended) output.note(`Logged out of ${name}.`);
}

/** A service that is away or gone must not keep anybody from forgetting the login. */
async function revoke(profile: Profile, note: (text: string) => void): Promise<void> {
  const { server, refreshToken } = profile;
  if (refreshToken === undefined) return;
  try {
    const oauth = new OAuth({
      baseUrl: server,
      clientId,
      retry: { retries: 0 },
      timeoutMs: 10_000,
    });
    await oauth.revoke(refreshToken);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    note(`The login is forgotten here, and may still count there: ${reason}`);
  }
}

export async function whoami(context: Context): Promise<void> {
  const client = await context.client();
  const me = await client.users.me();
  const { username, full_name: fullName, email, roles, grants } = me;
  const about = {
    username,
    fullName,
    email,
    roles,
    grants,
    server: client.baseUrl,
    profile: context.profile()?.name ?? null,
  };
  const { output } = context;
  // In a script, `user=$(reactord whoami)`.
  if (!output.isJson && !output.isTerminal) return output.line(username);
  output.facts(about, [
    ['User', fullName === '' ? username : `${username} (${fullName})`],
    ['Email', email === '' ? undefined : email],
    ['Roles', roles.join(', ') || undefined],
    ['May use', grants.join(', ') || 'nothing yet: an admin has to grant "reactors"'],
    ['Service', client.baseUrl],
    ['Profile', context.profile()?.name],
  ]);
}
