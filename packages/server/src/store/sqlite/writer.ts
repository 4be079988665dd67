import { Worker } from 'node:worker_threads';
import type { BatchCommitter, BatchUnit, Outcome } from '../group-commit.ts';
import { StoreUnavailable } from '../store-errors.ts';
import { type BatchReply, outcomesOf, packBatch, type WriterRequest } from './batch-message.ts';
import { errorFrom } from './failure.ts';

interface UnderWay {
  readonly resolve: (reply: BatchReply) => void;
  readonly reject: (reason: Error) => void;
}

/**
 * A commit quicker than this is mostly the running of its statements: then the next batch is better packed in the
 * meantime. A slower one waits for the disk, and fewer, bigger commits are better.
 */
const quickMilliseconds = 1;

/** The main thread's end of the writer thread. */
export class SqliteWriter implements BatchCommitter {
  readonly #worker: Worker;
  readonly #knownTemplates = new Set<number>();
  /** The thread answers in the order in which it was asked. */
  readonly #underWay: UnderWay[] = [];
  #commitMilliseconds = quickMilliseconds;
  #ended: StoreUnavailable | undefined;

  constructor(file: string) {
    this.#worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: file });
    this.#worker.on('message', (reply: BatchReply) => this.#underWay.shift()?.resolve(reply));
    this.#worker.on('error', (cause) => this.#end(cause));
    this.#worker.on('exit', () => this.#end(undefined));
  }

  get overlaps(): boolean {
    return this.#commitMilliseconds < quickMilliseconds;
  }

  async commit(batch: readonly BatchUnit[]): Promise<readonly Outcome[]> {
    const reply = await this.#ask(packBatch(batch, this.#knownTemplates));
    if (reply.failure !== undefined) throw errorFrom(reply.failure);
    this.#commitMilliseconds += (reply.commitMilliseconds - this.#commitMilliseconds) / 8;
    return outcomesOf(batch, reply);
  }

  /** Moves the write-ahead log into the file and ends the thread. */
  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    await new Promise((resolve) => {
      this.#worker.once('exit', resolve);
      this.#worker.postMessage('close');
    });
  }

  #ask(request: WriterRequest): Promise<BatchReply> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#underWay.push({ resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  #end(cause: unknown): void {
    this.#ended ??= new StoreUnavailable('The thread that writes the SQLite file has ended.', {
      cause,
    });
    for (const { reject } of this.#underWay.splice(0)) reject(this.#ended);
  }
}
