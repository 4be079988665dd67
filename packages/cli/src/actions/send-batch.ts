import { createReadStream, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ReactordClient, SendOptions } from '@reactord/client';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { parseJson } from '../operands.ts';
import { Progress } from '../terminal/progress.ts';
import { bytes, counted } from '../terminal/words.ts';

interface Batch {
  readonly id: string;
  /** - is standard input. */
  readonly path: string;
  readonly how: SendOptions;
  readonly key: string | undefined;
}

/** What goes in one request; a service takes a thousand messages unless its operator says otherwise. */
const mostMessages = 500;
const mostBytes = 4 * 1024 * 1024;

interface Portion {
  readonly messages: unknown[];
  size: number;
}

/**
 * Sends a file of any size, some hundred lines at a time. Each portion is accepted as a whole or not at all; with a key,
 * what was accepted before a failure is not sent again by the same command.
 */
export async function sendBatch(
  context: Context,
  client: ReactordClient,
  { id, path, how, key }: Batch,
): Promise<void> {
  const { output } = context;
  const whole = sizeOf(path);
  const progress = new Progress(output, 'Sending…');
  const executionIds: string[] = [];
  let count = 0;
  let portions = 0;
  let read = 0;
  const flush = async (portion: Portion): Promise<void> => {
    portions += 1;
    const idempotencyKey = key === undefined ? undefined : `${key}-${portions}`;
    const posted = await client.reactors.sendMany(id, portion.messages, { ...how, idempotencyKey });
    count += posted.executionIds.length;
    read += portion.size;
    // With --json they are one document; otherwise they are printed as they come, and not kept.
    if (output.isJson) executionIds.push(...posted.executionIds);
    else if (!output.isTerminal) for (const each of posted.executionIds) output.line(each);
    const share = whole === undefined ? undefined : read / whole;
    const size = whole === undefined ? '' : ` of ${bytes(whole)}`;
    progress.tell(`${counted(count, 'message')} sent, ${bytes(read)}${size}`, share);
  };
  try {
    for await (const portion of portionsOf(path)) await flush(portion);
  } catch (error) {
    progress.end();
    if (count > 0)
      output.error(`reactord: ${counted(count, 'message was', 'messages were')} sent before this:`);
    throw error;
  } finally {
    progress.end();
  }
  if (count === 0) throw new CommandFailure('usage', `${named(path)} has no messages.`);
  if (output.isJson) return output.json({ executionIds });
  if (output.isTerminal) output.line(`${counted(count, 'message')} sent.`);
}

async function* portionsOf(path: string): AsyncGenerator<Portion, void, void> {
  const input = path === '-' ? process.stdin : createReadStream(path);
  let portion: Portion = { messages: [], size: 0 };
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    const size = Buffer.byteLength(line) + 1;
    if (line.trim() !== '') {
      const full = portion.messages.length >= mostMessages || portion.size + size > mostBytes;
      if (full && portion.messages.length > 0) {
        yield portion;
        portion = { messages: [], size: 0 };
      }
      portion.messages.push(parseJson(line, `Line ${number} of ${named(path)}`));
    }
    portion.size += size;
  }
  if (portion.messages.length > 0) yield portion;
}

const named = (path: string): string => (path === '-' ? 'standard input' : path);

function sizeOf(path: string): number | undefined {
  if (path === '-') return undefined;
  try {
    return statSync(path).size;
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new CommandFailure('usage', `${path} cannot be read (${reason}).`);
  }
}
