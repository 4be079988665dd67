import { type ReactordClient, ReactordError, UnavailableError } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { version } from '../version.ts';

/** What one check found; the same shape as the service's own. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'wrong';
  readonly found: string;
  readonly todo: string;
}

const mostApartMs = 2_000;

/** The service that the user works with, from outside. */
export async function checkService(context: Context): Promise<readonly Finding[]> {
  const { server } = context;
  const { ReactordClient } = await import('@reactord/client');
  const said: { date: string | null; version: string } = { date: null, version: '' };
  const listening: typeof fetch = async (...asked) => {
    const reply = await fetch(...asked);
    said.date = reply.headers.get('date') ?? said.date;
    const { version }: { version?: unknown } = Object(await reply.clone().json());
    said.version = String(version ?? said.version);
    return reply;
  };
  const client = new ReactordClient({
    baseUrl: server,
    fetch: listening,
    retry: { retries: 0 },
    timeoutMs: 10_000,
  });
  const asked = Date.now();
  try {
    await client.service.health();
  } catch (error) {
    return [
      {
        check: 'reachable',
        state: 'wrong',
        found: sentence(error),
        todo: 'Start it, or name the right address with --server.',
      },
    ];
  }
  const took = Date.now() - asked;
  return [
    { check: 'reachable', state: 'ok', found: `It answered after ${took} ms.`, todo: '' },
    encryption(server),
    versions(said.version),
    clock(said.date, (asked + Date.now()) / 2),
    ...(await readiness(client)),
    await loginOf(context),
  ];
}

function versions(there: string): Finding {
  const check = 'version';
  const here = version();
  if (there === here) return { check, state: 'ok', found: `Both are ${here}.`, todo: '' };
  return {
    check,
    state: 'warning',
    found: `The service is ${there || 'of no known version'}, the command line ${here}.`,
    todo: 'Use the command line of the same version where something does not fit.',
  };
}

function encryption(server: string): Finding {
  const check = 'encryption';
  const { protocol, hostname } = new URL(server);
  const isHere = /^(localhost|127\.|\[::1\])/.test(hostname);
  if (protocol === 'https:') return { check, state: 'ok', found: 'TLS is used.', todo: '' };
  if (isHere) return { check, state: 'ok', found: 'It is on this machine.', todo: '' };
  return {
    check,
    state: 'warning',
    found: 'Tokens travel in clear to another machine.',
    todo: 'Put a proxy with TLS in front of the service.',
  };
}

/** The header has whole seconds. */
function clock(date: string | null, between: number): Finding {
  const check = 'clock';
  const at = Date.parse(date ?? '');
  if (Number.isNaN(at))
    return {
      check,
      state: 'warning',
      found: 'The service does not say what time it is.',
      todo: '',
    };
  const apart = at + 500 - between;
  if (Math.abs(apart) <= mostApartMs)
    return { check, state: 'ok', found: "The clock agrees with the service's.", todo: '' };
  const seconds = Math.round(Math.abs(apart) / 1000);
  return {
    check,
    state: 'wrong',
    found: `The service's clock is ${seconds} s ${apart > 0 ? 'ahead of' : 'behind'} this machine's.`,
    todo: 'Keep both by NTP, for example with: timedatectl set-ntp true',
  };
}

async function readiness(client: ReactordClient): Promise<readonly Finding[]> {
  const parts = await client.service.ready().catch((error: unknown) => {
    if (error instanceof UnavailableError) return error.result;
    throw error;
  });
  return Object.entries(Object(parts)).map(([check, part]) => {
    const { ok, message }: { ok?: unknown; message?: unknown } = Object(part);
    const isWell = ok === true;
    return {
      check,
      state: isWell ? 'ok' : 'wrong',
      found: `${String(message).replace(/\.$/, '')}.`,
      todo: isWell ? '' : 'On the machine of the service, run: reactord doctor',
    } as const;
  });
}

async function loginOf(context: Context): Promise<Finding> {
  const check = 'login';
  try {
    const { username, grants } = await (await context.client()).users.me();
    if (grants.some((grant) => grant === 'reactors'))
      return { check, state: 'ok', found: `You are ${username}.`, todo: '' };
    return {
      check,
      state: 'warning',
      found: `You are ${username}, and may not use reactors yet.`,
      todo: `Ask an admin for: reactord users grant ${username} reactors`,
    };
  } catch (error) {
    const todo = error instanceof CommandFailure ? (error.next ?? '') : 'Log in: reactord login';
    const state = context.profile() === undefined ? 'warning' : 'wrong';
    return { check, state, found: sentence(error), todo };
  }
}

function sentence(error: unknown): string {
  const known = error instanceof ReactordError || error instanceof Error;
  const text = known ? error.message : String(error);
  return text.endsWith('.') ? text : `${text}.`;
}
