import type { AnsweredMessage, Message, ReactordClient, SendOptions } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { decoded, operand, parseJson, reactorId, readContent, wordsOrInput } from '../operands.ts';
import type { Operands } from '../run.ts';
import { wholeInput } from '../terminal/ask.ts';
import { Progress } from '../terminal/progress.ts';
import { endWith, follow } from './ending.ts';
import { sendBatch } from './send-batch.ts';

interface Options {
  readonly file?: string;
  readonly asJson?: boolean;
  readonly asBytes?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly delay?: number;
  readonly wait?: boolean;
  readonly within?: number;
  readonly follow?: boolean;
  readonly batch?: string;
  readonly key?: string;
}

export async function send(context: Context, operands: Operands, options: Options): Promise<void> {
  const words = operands.slice(1).filter((word) => word !== undefined);
  refuseBoth(options, words);
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  const how: SendOptions = {
    environment: options.env,
    delay: options.delay,
    idempotencyKey: options.key,
  };
  if (options.batch !== undefined)
    return await sendBatch(context, client, { id, path: options.batch, how, key: options.key });
  if (options.wait || options.follow) await refuseBroken(client, id);
  const message = await readMessage(options, words);
  if (options.wait)
    return await sendAndWait(context, client, { id, message, how, wait: options.within ?? true });
  const posted = await client.reactors.send(id, message, how);
  const { output } = context;
  if (options.follow) {
    output.note(output.noteColours.dim(`execution ${posted.executionId}`));
    return await follow(context, client, { reactor: id, execution: posted.executionId });
  }
  if (output.isJson) return output.json(posted);
  output.line(posted.executionId);
  if (output.isTerminal)
    output.note(
      output.noteColours.dim(`Its log: reactord logs -f ${operands[0]} ${posted.executionId}`),
    );
}

/** Its messages wait until somebody mends it: whoever waits for one would wait for ever. */
async function refuseBroken(client: ReactordClient, id: string): Promise<void> {
  const { status, statusMessage } = await client.reactors.get(id);
  if (status !== 'ERROR') return;
  throw new CommandFailure(
    'notRun',
    `The reactor cannot run: ${statusMessage}`,
    `Nothing was sent. Mend it: reactord reactors update ${id} --image IMAGE`,
  );
}

function refuseBoth(options: Options, words: readonly string[]): void {
  const sources = [words.length > 0, options.file !== undefined, options.batch !== undefined];
  if (sources.filter(Boolean).length > 1)
    throw new CommandFailure(
      'usage',
      'Give the message in words, or with --file, or with --batch: one of them.',
    );
  if (options.asJson && options.asBytes)
    throw new CommandFailure('usage', 'It is either --as-json or --as-bytes.');
  if (options.within !== undefined && !options.wait)
    throw new CommandFailure('usage', '--within goes with --wait.');
  const ways = [options.wait === true, options.follow === true, options.batch !== undefined];
  if (ways.filter(Boolean).length > 1)
    throw new CommandFailure('usage', 'Only one of --wait, --follow and --batch is possible.');
}

async function readMessage(options: Options, words: readonly string[]): Promise<Message> {
  const { file } = options;
  if (file !== undefined) {
    const isJson = options.asJson === true || file.endsWith('.json');
    return asMessage(await readContent(file), { ...options, asJson: isJson }, file);
  }
  const fromInput = words.length === 0 || (words.length === 1 && words[0] === '-');
  if (fromInput && !process.stdin.isTTY)
    return asMessage(await wholeInput(), options, 'Standard input');
  const text = await wordsOrInput(fromInput ? undefined : words.join(' '));
  return asMessage(new TextEncoder().encode(text), options, 'The message');
}

function asMessage(
  content: Uint8Array<ArrayBuffer>,
  { asJson, asBytes }: Options,
  what: string,
): Message {
  if (content.length === 0) throw empty();
  const text = asBytes ? undefined : decoded(content);
  if (text === undefined) return content;
  return asJson ? readJson(text, what) : text;
}

const empty = (): CommandFailure =>
  new CommandFailure(
    'usage',
    'The message is empty.',
    'Give some words, a file with --file, or standard input.',
  );

/** Text is a message of its own; everything else is JSON for the SDK as it is. */
function readJson(text: string, what: string): Message {
  const value = parseJson(text, what);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'object') return Array.isArray(value) ? value : { ...value };
  return String(value);
}

interface Waiting {
  readonly id: string;
  readonly message: Message;
  readonly how: SendOptions;
  /** Seconds; true: until the end. */
  readonly wait: number | true;
}

async function sendAndWait(
  context: Context,
  client: ReactordClient,
  { id, message, how, wait }: Waiting,
): Promise<void> {
  const { output } = context;
  const progress = new Progress(output, 'Waiting for its end…');
  const deadline = wait === true ? Number.POSITIVE_INFINITY : Date.now() + wait * 1000;
  let answer: AnsweredMessage;
  try {
    answer = await client.reactors.send(id, message, { ...how, wait });
    const { TimeoutError } = await import('@reactord/client');
    const { executionId } = answer;
    // The reply comes with the first result, or when the service would wait no longer.
    const record = await client.executions
      .untilOver(id, executionId, { withinMs: Math.max(0, deadline - Date.now()) })
      .catch((error: unknown) => {
        if (!(error instanceof TimeoutError)) throw error;
        throw new CommandFailure(
          'timePassed',
          `It was not over after ${wait} s, and goes on.`,
          `Look later: reactord logs -f ${id} ${executionId}`,
        );
      });
    progress.end();
    await showAnswer(context, client, id, answer);
    if (output.isJson) return finishJson(context, answer, record);
    endWith(record);
  } finally {
    progress.end();
  }
}

/** The result as it is; or else the log. */
async function showAnswer(
  { output }: Context,
  client: ReactordClient,
  id: string,
  answer: AnsweredMessage,
): Promise<void> {
  if (output.isJson) return;
  if (answer.result !== undefined) output.raw(answer.result);
  else if (answer.log !== undefined) output.raw(answer.log);
  else output.raw((await client.executions.logs(id, answer.executionId)).logs);
}

function finishJson(
  { output }: Context,
  answer: AnsweredMessage,
  record: Parameters<typeof endWith>[0],
): void {
  const { executionId, result, log } = answer;
  const { status, exitCode, statusMessage } = record;
  const text = result === undefined ? undefined : decoded(result);
  output.json({
    executionId,
    status,
    exitCode,
    statusMessage,
    ...(text !== undefined && { result: text }),
    ...(result !== undefined &&
      text === undefined && { resultBase64: Buffer.from(result).toString('base64') }),
    ...(log !== undefined && { log }),
  });
  endWith(record);
}
