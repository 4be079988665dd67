import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { BatchUnit, Outcome } from '../group-commit.ts';
import { StoreUnavailable } from '../store-errors.ts';
import { type BatchReply, outcomesOf, packBatch, type WriterRequest } from './batch-message.ts';
import { errorFrom } from './failure.ts';

interface UnderWay {
  readonly resolve: (reply: BatchReply) => void;
  readonly reject: (reason: Error) => void;
}

/** The main thread's end of the writer thread. One batch is under way at a time. */
export class SqliteWriter {
  readonly #worker: Worker;
  readonly #knownTemplates = new Set<number>();
  #underWay: UnderWay | undefined;
  #ended: StoreUnavailable | undefined;

  constructor(file: string) {
    this.#worker = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData: file });
    this.#worker.on('message', (reply: BatchReply) => this.#settle()?.resolve(reply));
    this.#worker.on('error', (cause) => this.#end(cause));
    this.#worker.on('exit', () => this.#end(undefined));
  }

  async commit(batch: readonly BatchUnit[]): Promise<readonly Outcome[]> {
    const reply = await this.#ask(packBatch(batch, this.#knownTemplates));
    if (reply.failure !== undefined) throw errorFrom(reply.failure);
    return outcomesOf(batch, reply);
  }

  /** Moves the write-ahead log into the file and ends the thread. */
  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const exited = once(this.#worker, 'exit');
    this.#worker.postMessage('close');
    await exited;
  }

  #ask(request: WriterRequest): Promise<BatchReply> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#underWay = { resolve, reject };
      this.#worker.postMessage(request);
    });
  }

  #settle(): UnderWay | undefined {
    const underWay = this.#underWay;
    this.#underWay = undefined;
    return underWay;
  }

  #end(cause: unknown): void {
    this.#ended ??= new StoreUnavailable('The thread that writes the SQLite file has ended.', {
      cause,
    });
    this.#settle()?.reject(this.#ended);
  }
}
