import type { Store } from '../store/store.ts';
import { UnexpectedRows } from '../store/store-errors.ts';
import { OpenChunk } from './log-chunk.ts';
import { findChunk, findLog, type KeptLog, stepLog } from './log-rows.ts';

const newline = 10;

/**
 * The log as the given try of its execution finds it. One that an earlier try has written is gone on with: a line says
 * so, and the bytes of the container are counted from the first again, all in one step.
 */
export async function toAttempt(
  store: Store,
  executionId: string,
  attempt: number,
): Promise<KeptLog | undefined> {
  for (;;) {
    const kept = await findLog(store, executionId);
    if (kept === undefined || kept.attempt >= attempt) return kept;
    try {
      await store.write(
        ...nextAttempt(executionId, kept, attempt, await lastChunk(store, executionId, kept)),
      );
    } catch (error) {
      // Another process has done it, or its last step of the try before came in between.
      if (!(error instanceof UnexpectedRows)) throw error;
    }
  }
}

async function lastChunk(store: Store, executionId: string, kept: KeptLog): Promise<OpenChunk> {
  const last = await findChunk(store, executionId, kept.size);
  return last === undefined ? new OpenChunk(0) : OpenChunk.resume(last);
}

function nextAttempt(executionId: string, kept: KeptLog, attempt: number, last: OpenChunk) {
  const cut = last.size > 0 && last.row().body.at(-1) !== newline;
  const notice = Buffer.from(`${cut ? '\n' : ''}[reactord: attempt ${attempt}]\n`);
  const isCapped = kept.dropped.stdout + kept.dropped.stderr > 0;
  const fits = !isCapped && last.end + notice.length <= kept.limit;
  const chunk = last.isSmall ? last : new OpenChunk(last.end);
  if (fits) chunk.add('stdout', Date.now(), notice);
  return stepLog({
    executionId,
    from: kept,
    // What is over the limit stays over it; the counts of the try before would be taken for this one's.
    to: {
      raw: { stdout: 0, stderr: 0 },
      dropped: kept.dropped,
      size: fits ? chunk.end : kept.size,
    },
    chunk: fits ? chunk.row() : undefined,
    limit: kept.limit,
    expiresAt: null,
    attempt,
    fromAttempt: kept.attempt,
  });
}
