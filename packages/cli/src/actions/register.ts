import type { Api, NewReactor, ReactorChanges, ReactordClient } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { decoded, operand, parseJson, reactorId, readContent } from '../operands.ts';
import type { Operands } from '../run.ts';
import { Progress, pulledShare } from '../terminal/progress.ts';
import { paintStatus } from '../terminal/words.ts';
import { giveAlias } from './sharing.ts';

interface Described {
  readonly name?: string;
  readonly description?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stateful?: boolean;
  readonly stateless?: boolean;
  readonly maxWorkers?: number;
  readonly memory?: string;
  readonly cpus?: number;
  readonly timeout?: number;
  readonly retries?: number;
  readonly keepLogs?: number;
  readonly webhook?: string;
  readonly link?: string;
  readonly schedule?: string;
  readonly hint?: readonly string[];
  readonly registryCredentials?: string;
  readonly set?: Readonly<Record<string, string>>;
  readonly from?: string;
  readonly wait: boolean;
}

interface CreateOptions extends Described {
  readonly alias?: string;
}

interface UpdateOptions extends Described {
  readonly image?: string;
  readonly unsetEnv?: readonly string[];
  readonly unset?: readonly string[];
  readonly force?: boolean;
}

export async function create(
  context: Context,
  operands: Operands,
  options: CreateOptions,
): Promise<void> {
  const image = operand(operands, 0);
  const client = await context.client();
  const { env } = options;
  const reactor: NewReactor = {
    ...(await fieldsOf(options)),
    ...(options.name !== undefined && { name: options.name }),
    ...(env !== undefined && { defaultEnvironment: env }),
    image,
  };
  const made = await client.reactors.create(reactor);
  if (options.alias !== undefined) await giveAlias(client, options.alias, made.id);
  await finish(context, client, made, options, 'Registered');
}

export async function update(
  context: Context,
  operands: Operands,
  options: UpdateOptions,
): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const { env, unsetEnv = [], unset = [], image, force } = options;
  const fields = await fieldsOf(options);
  const cleared = Object.fromEntries(unset.map((field) => [camel(field), null]));
  const changes: ReactorChanges = {
    ...fields,
    ...cleared,
    ...(image !== undefined && { image }),
    ...(force === true && { force }),
    ...((env !== undefined || unsetEnv.length > 0) && {
      defaultEnvironment: without(
        { ...(await client.reactors.get(id)).defaultEnvironment, ...env },
        unsetEnv,
      ),
    }),
  };
  if (Object.keys(changes).length === 0)
    throw new CommandFailure(
      'usage',
      'Nothing was named that is to change.',
      'See: reactord reactors update --help',
    );
  await finish(context, client, await client.reactors.update(id, changes), options, 'Changed');
}

async function fieldsOf(options: Described): Promise<Readonly<Record<string, unknown>>> {
  if (options.stateful && options.stateless)
    throw new CommandFailure('usage', 'It is either --stateful or --stateless.');
  const fields = {
    ...(await fieldsFrom(options.from)),
    description: options.description,
    stateless: options.stateful ? false : options.stateless,
    maxWorkers: options.maxWorkers,
    memLimit: options.memory,
    maxCpus: options.cpus,
    timeout: options.timeout,
    retries: options.retries,
    logEx: options.keepLogs,
    webhook: options.webhook,
    link: options.link,
    cronSchedule: options.schedule,
    hints: options.hint,
    registryCredentials: options.registryCredentials,
  };
  const others = Object.entries(options.set ?? {}).map(([name, text]) => [
    camel(name),
    loosely(text),
  ]);
  return {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    ...Object.fromEntries(others),
  };
}

async function fieldsFrom(path: string | undefined): Promise<Readonly<Record<string, unknown>>> {
  if (path === undefined) return {};
  const given = parseJson(decoded(await readContent(path)) ?? '', path);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CommandFailure(
      'usage',
      `${path} must hold one JSON object with the fields of a reactor.`,
    );
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [camel(name), value]));
}

const camel = (name: string): string =>
  name.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What is JSON is taken as it, the rest as text. */
function loosely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function without(
  all: Readonly<Record<string, string>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
}

/** Waits for the image unless told not to, and says what there is then. */
async function finish(
  context: Context,
  client: ReactordClient,
  made: Api.Reactor,
  { wait }: Described,
  verb: string,
): Promise<void> {
  const { output } = context;
  const reactor = wait ? await untilReady(context, client, made) : made;
  if (output.isJson) return output.json(reactor);
  // In a script, `id=$(reactord reactors create …)`.
  if (!output.isTerminal) return output.line(reactor.id);
  const { id, name, status } = reactor;
  const called = name === null ? id : `${name} (${id})`;
  output.line(
    `${verb} ${output.colours.bold(called)}: ${paintStatus(status, status, output.colours)}`,
  );
  if (reactor.statusMessage !== '' && status === 'READY')
    output.line(output.colours.dim(reactor.statusMessage));
}

async function untilReady(
  { output }: Context,
  client: ReactordClient,
  { id, image, status }: Api.Reactor,
): Promise<Api.Reactor> {
  const { TimeoutError } = await import('@reactord/client');
  const progress = new Progress(output, `Getting ${image}`);
  try {
    return await client.reactors.untilReady(id, {
      // Somebody who watches can stop it; a script gets on after ten minutes.
      withinMs: output.isWatched ? 12 * 3_600_000 : 600_000,
      onProgress: ({ statusMessage }) =>
        progress.tell(`Getting ${image}: ${statusMessage || status}`, pulledShare(statusMessage)),
    });
  } catch (error) {
    progress.end();
    if (error instanceof TimeoutError)
      throw new CommandFailure(
        'timePassed',
        error.message,
        `Look later: reactord reactors show ${id}`,
      );
    const next = `It is there as ${id}. Name another image: reactord reactors update ${id} --image IMAGE`;
    throw error instanceof Error && 'code' in error && error.code === 'reactor_not_ready'
      ? new CommandFailure('notRun', error.message, next)
      : error;
  } finally {
    progress.end();
  }
}
