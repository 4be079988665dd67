import { fail, ServiceError } from '../errors.ts';
import { type Message, readJsonText } from './message.ts';

export const batchType = 'application/x-ndjson';

/**
 * A batch: one message a line, each understood as it would be alone as application/json. Lines with nothing on them do
 * not count. What is wrong is said with the number of its line.
 */
export function readBatch(body: Uint8Array, mostMessages: number): readonly Message[] {
  const messages: Message[] = [];
  for (const [at, line] of textOf(body).split('\n').entries()) {
    if (line.trim() === '') continue;
    if (messages.length === mostMessages) throw tooMany(mostMessages);
    messages.push(readLine(line.endsWith('\r') ? line.slice(0, -1) : line, at + 1));
  }
  if (messages.length === 0)
    throw invalid('The body', 'is empty: send one JSON document a line, each a message');
  return messages;
}

const tooMany = (most: number): ServiceError =>
  invalid('The body', `has more than ${most} messages: send them in several batches`);

function readLine(line: string, number: number): Message {
  try {
    return readJsonText(line);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw invalid(`Line ${number}`, error.message);
  }
}

function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw invalid('The body', 'is not valid UTF-8');
  }
}

const invalid = (field: string, problem: string): ServiceError =>
  fail('invalid_field', { field, problem });
