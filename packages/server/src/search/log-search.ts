import { type Scope, searchExecutions } from '../executions/execution-search.ts';
import type { LogStore } from '../executions/log-store.ts';
import { logText } from '../executions/log-text.ts';
import type { FoundPage, SearchPage } from '../filters/search-reply.ts';
import type { Wanted } from '../filters/terms.ts';
import type { Store } from '../store/store.ts';

/** A log in which everything was found that was looked for. */
export interface FoundLog {
  readonly executionId: string;
  readonly reactorId: string;
  readonly owner: string;
  /** The lines with one of the words, or the beginning of the log where no words were asked for. */
  readonly text: string;
}

/** Logs are read through, so a page looks at so many at most, and at so much of each. */
const mostLogs = 200;
const mostCharacters = 1024 * 1024;
const mostShown = 16 * 1024;

/** Newest first. The terms choose executions, the words are looked for in what they wrote. */
export async function searchLogs(
  store: Store,
  logs: LogStore,
  scope: Scope,
  { terms, words }: Wanted,
  { limit, offset, cursor }: SearchPage,
): Promise<FoundPage<FoundLog>> {
  const looked = { limit: mostLogs, offset: 0, cursor };
  const chosen = { terms, words: [], isSearch: true };
  const executions = await searchExecutions(store, scope, chosen, looked);
  const kept = new Set(await logs.among(executions.rows.map(({ execution }) => execution.id)));
  const found: FoundLog[] = [];
  let last: string | undefined;
  for (const { execution, owner } of executions.rows) {
    const { id: executionId, reactorId } = execution;
    if (found.length === offset + limit) break;
    last = executionId;
    const text = kept.has(executionId) ? await matching(logs, executionId, words) : undefined;
    if (text !== undefined) found.push({ executionId, reactorId, owner, text });
  }
  const isAll = executions.next === undefined && last === executions.rows.at(-1)?.execution.id;
  return { rows: found.slice(offset), counted: found.length, next: isAll ? undefined : last };
}

async function matching(
  logs: LogStore,
  executionId: string,
  words: readonly string[],
): Promise<string | undefined> {
  let text = '';
  for await (const piece of logText(logs, executionId, { stream: undefined, tail: undefined })) {
    text += piece;
    if (text.length > mostCharacters) break;
  }
  const wanted = words.map((word) => word.toLowerCase());
  const folded = text.toLowerCase();
  if (!wanted.every((word) => folded.includes(word))) return undefined;
  if (wanted.length === 0) return text.slice(0, mostShown);
  const lines = text.split('\n').filter((line) => {
    const lower = line.toLowerCase();
    return wanted.some((word) => lower.includes(word));
  });
  return lines.join('\n').slice(0, mostShown);
}
