import { readFileSync } from 'node:fs';
import type { ReactordClient } from '@reactord/client';
import { CommandFailure } from './exit-codes.ts';
import type { Operands } from './run.ts';
import { wholeInput } from './terminal/ask.ts';

/** An operand that the command line has made sure of. */
export function operand(operands: Operands, at: number): string {
  const value = operands[at];
  if (value === undefined)
    throw new CommandFailure('usage', 'Something is missing on the command line.');
  return value;
}

const idForm = /^[2-9A-HJ-NP-Za-km-z]{14}$/;

/** The id of what the user calls a reactor: its id, an alias or, where only one of theirs has it, its name. */
export async function reactorId(client: ReactordClient, given: string): Promise<string> {
  if (idForm.test(given)) return given;
  const { NotFoundError } = await import('@reactord/client');
  try {
    return (await client.reactors.get(given)).id;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
  const named = [];
  for await (const reactor of client.reactors.list({ limit: 1000 }))
    if (reactor.name === given) named.push(reactor.id);
  const [only, ...others] = named;
  if (only === undefined)
    throw new CommandFailure(
      'notFound',
      `There is no reactor with the id, alias or name ${JSON.stringify(given)}.`,
      'See yours with: reactord reactors list',
    );
  if (others.length > 0)
    throw new CommandFailure(
      'usage',
      `${named.length} reactors are called ${JSON.stringify(given)}.`,
      `Say which by its id: ${named.join(', ')}`,
    );
  return only;
}

/** The execution that is meant: the newest, where none is named. */
export async function executionId(
  client: ReactordClient,
  reactor: string,
  given: string | undefined,
): Promise<string> {
  if (given !== undefined) return given;
  const [newest] = (await client.executions.list(reactor, { limit: 1 }).page()).executions;
  if (newest !== undefined) return newest.id;
  throw new CommandFailure(
    'notFound',
    'Nothing has run yet.',
    `Send a message: reactord send ${reactor} hello`,
  );
}

/** A file by its path, or standard input for -. */
export async function readContent(path: string): Promise<Uint8Array<ArrayBuffer>> {
  if (path === '-') return await wholeInput();
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CommandFailure('usage', `${path} cannot be read (${reason}).`);
  }
}

/** The words given, or standard input where there are none, or a dash. */
export async function wordsOrInput(words: string | undefined): Promise<string> {
  if (words !== undefined && words !== '-') return words;
  if (process.stdin.isTTY)
    process.stderr.write('Type it, and end with Ctrl-D on a line of its own.\n');
  return decoded(await wholeInput()) ?? '';
}

/** As text; undefined where it is none. */
export function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure('usage', `${what} is not JSON (${reason}).`);
  }
}
