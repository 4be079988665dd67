import { setTimeout as pause } from 'node:timers/promises';
import type { OutputChunk, OutputStream } from '../engines/engine.ts';
import type { Store } from '../store/store.ts';
import { StoreUnavailable, UnexpectedRows } from '../store/store-errors.ts';
import { OpenChunk } from './log-chunk.ts';
import { fitting, type LogChunk } from './log-lines.ts';
import { type Piece, StreamRedaction } from './log-redaction.ts';
import { findLog, type KeptLog, type LogState, type PerStream, stepLog } from './log-rows.ts';

export interface LogWriter {
  /** Bytes of the container's output that were settled when the writer was opened: a replay leaves them out. */
  readonly stored: Readonly<PerStream>;
  /** Resolves when the next chunk may come. What it took is durable within a tenth of a second. */
  write(chunk: OutputChunk): Promise<void>;
  /** The container has ended: resolves when every byte is durable. */
  end(): Promise<void>;
  /** The same, for an execution that is tried again: the log stays open for the next try. */
  pause(): Promise<void>;
  /** The service lets go of a container that runs on: what is sure is made durable, for a later writer to go on from. */
  release(): Promise<void>;
}

export interface LogOptions {
  /** How many bytes are kept. The rest is counted. */
  readonly limitBytes: number;
  /** Texts that must not be seen in the log. */
  readonly secrets: readonly string[];
  /** How long the log is kept after its end. */
  readonly keepSeconds: number;
  /** Which try of the execution writes; the bytes of its container are counted from its first. */
  readonly attempt?: number;
}

/** Another process writes this log now. What this one would add is there already, or comes from there. */
export class LogTakenOver extends Error {
  constructor(executionId: string) {
    super(`The log of execution ${executionId} is written by another process now.`);
    this.name = 'LogTakenOver';
  }
}

interface WriterParts {
  readonly store: Store;
  readonly executionId: string;
  readonly options: LogOptions;
  readonly kept: KeptLog | undefined;
  readonly lastChunk: LogChunk | undefined;
  /** Called after each step that is durable, and once at the end with `true`. */
  readonly onStep: (done: boolean) => void;
}

/** Often enough that a line is seen within a tenth of a second, rarely enough that a chatty log shares its commits. */
const stepMilliseconds = 50;
/** While everything is dropped, only the count changes. */
const countMilliseconds = 1000;
const sliceBytes = 64 * 1024;
const longestPause = 2000;
const streams: readonly OutputStream[] = ['stdout', 'stderr'];

/**
 * Writes one log, in steps that each are durable as a whole. In memory there are at most the chunk that is being
 * filled and the one that is being kept.
 */
export class StoredLogWriter implements LogWriter {
  readonly stored: Readonly<PerStream>;
  readonly #parts: WriterParts;
  readonly #redactions: Readonly<Record<OutputStream, StreamRedaction>>;
  #kept: LogState | undefined;
  #raw: PerStream;
  #dropped: PerStream;
  #chunk: OpenChunk;
  /** The log was dropped while it was written: nothing is kept any more. */
  #unwanted = false;
  #failure: unknown;
  #turn: Promise<void> = Promise.resolve();
  #step: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastStep = 0;
  #expiresAt: number | null = null;
  #done = false;

  constructor(parts: WriterParts) {
    const { kept, lastChunk, options } = parts;
    this.#parts = parts;
    this.#kept = kept;
    this.#raw = { ...(kept?.raw ?? { stdout: 0, stderr: 0 }) };
    this.#dropped = { ...(kept?.dropped ?? { stdout: 0, stderr: 0 }) };
    this.stored = { ...this.#raw };
    const last = lastChunk === undefined ? new OpenChunk(0) : OpenChunk.resume(lastChunk);
    this.#chunk = last.isSmall ? last : new OpenChunk(last.end);
    this.#redactions = {
      stdout: new StreamRedaction(options.secrets),
      stderr: new StreamRedaction(options.secrets),
    };
  }

  write(chunk: OutputChunk): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#done) throw new Error('This log has been ended; it takes nothing more.');
      const { stream, bytes } = chunk;
      const time = Math.round(chunk.time);
      for (let at = 0; at < bytes.length; at += sliceBytes) {
        await this.#take(stream, time, bytes.subarray(at, at + sliceBytes));
      }
      this.#schedule();
    });
  }

  end(): Promise<void> {
    return this.#close(true);
  }

  pause(): Promise<void> {
    return this.#close(false);
  }

  #close(forGood: boolean): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#done) return;
      const now = Date.now();
      for (const stream of streams) {
        for (const piece of this.#redactions[stream].end()) await this.#keep(stream, now, piece);
      }
      if (forGood) this.#expiresAt = now + this.#parts.options.keepSeconds * 1000;
      await this.#finish();
    });
  }

  release(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#done) await this.#finish();
    });
  }

  /** Gives up at once, whatever is not durable yet. */
  abandon(): void {
    this.#done = true;
    clearTimeout(this.#timer);
  }

  /** One call after the other, also when a caller does not wait. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(() => {
      if (this.#failure !== undefined) throw this.#failure;
      return work();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #take(stream: OutputStream, time: number, bytes: Uint8Array): Promise<void> {
    if (this.#isCapped || this.#unwanted) {
      this.#drop(stream, bytes.length);
      return;
    }
    for (const piece of this.#redactions[stream].push(bytes)) await this.#keep(stream, time, piece);
  }

  async #keep(stream: OutputStream, time: number, piece: Piece): Promise<void> {
    let { bytes, raw } = piece;
    while (raw > 0 && !this.#isCapped) {
      if (this.#chunk.isFull) await this.#advance();
      const allowed = fitting(bytes, this.#parts.options.limitBytes - this.#chunk.end);
      if (allowed.length === 0 || (piece.secret && allowed.length < bytes.length)) break;
      const taken = this.#chunk.add(stream, time, allowed);
      bytes = bytes.subarray(taken);
      const settled = piece.secret ? raw : taken;
      raw -= settled;
      this.#raw[stream] += settled;
    }
    if (raw > 0) this.#cap(stream, raw);
  }

  get #isCapped(): boolean {
    return this.#dropped.stdout + this.#dropped.stderr > 0;
  }

  /** From the first byte that does not fit, nothing is kept: a log with holes would mislead. */
  #cap(stream: OutputStream, raw: number): void {
    this.#drop(stream, raw);
    for (const each of streams) this.#drop(each, this.#redactions[each].forget());
  }

  #drop(stream: OutputStream, raw: number): void {
    this.#raw[stream] += raw;
    this.#dropped[stream] += raw;
  }

  get #state(): LogState {
    return { raw: { ...this.#raw }, dropped: { ...this.#dropped }, size: this.#chunk.end };
  }

  get #isBehind(): boolean {
    if (this.#unwanted) return false;
    const { stdout = 0, stderr = 0 } = this.#kept?.raw ?? {};
    return this.#raw.stdout !== stdout || this.#raw.stderr !== stderr;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#step !== undefined || !this.#isBehind) return;
    const onlyCounts = this.#kept !== undefined && this.#kept.size === this.#chunk.end;
    const due = this.#lastStep + (onlyCounts ? countMilliseconds : stepMilliseconds);
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        // A step that fails is heard of by the next call.
        this.#advance().catch(() => undefined);
      },
      Math.max(0, due - performance.now()),
    );
  }

  /** Makes everything durable that was taken before the call. */
  async #advance(): Promise<void> {
    await this.#step;
    this.#step ??= this.#makeStep().finally(() => {
      this.#step = undefined;
      this.#lastStep = performance.now();
    });
    await this.#step;
    if (!this.#done) this.#schedule();
  }

  async #makeStep(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unwanted || (!this.#isBehind && this.#expiresAt === null)) return;
    const chunk = this.#chunk;
    const to = this.#state;
    const row = to.size > (this.#kept?.size ?? 0) ? chunk.row() : undefined;
    // What comes in the meantime does not make a chunk grow that is large enough: it would be written twice.
    if (!chunk.isSmall) this.#chunk = new OpenChunk(chunk.end);
    try {
      await this.#commit(to, row);
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
    this.#kept = to;
    this.#parts.onStep(false);
  }

  async #commit(to: LogState, chunk: ReturnType<OpenChunk['row']> | undefined): Promise<void> {
    const { store, executionId, options } = this.#parts;
    const unit = stepLog({
      executionId,
      from: this.#kept,
      to,
      chunk,
      limit: options.limitBytes,
      expiresAt: this.#expiresAt,
      attempt: options.attempt ?? 1,
    });
    for (let wait = 50; ; wait = Math.min(wait * 2, longestPause)) {
      try {
        await store.write(...unit);
        return;
      } catch (error) {
        if (error instanceof UnexpectedRows) return this.#yield();
        if (!(error instanceof StoreUnavailable) || this.#done) throw error;
      }
      await pause(wait);
      // Nobody can tell whether a commit took place whose answer was lost, except the store itself.
      if (await this.#isThere(to)) return;
    }
  }

  async #isThere(state: LogState): Promise<boolean> {
    const { store, executionId } = this.#parts;
    const found = await findLog(store, executionId).catch(() => undefined);
    return found !== undefined && sameRaw(found, state);
  }

  async #yield(): Promise<void> {
    const { store, executionId } = this.#parts;
    if ((await findLog(store, executionId)) !== undefined) throw new LogTakenOver(executionId);
    this.#unwanted = true;
  }

  async #finish(): Promise<void> {
    const untouched = this.#kept === undefined && !this.#isBehind;
    if (!untouched) await this.#advance();
    this.#done = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#parts.onStep(true);
  }
}

const sameRaw = (a: LogState, b: LogState): boolean =>
  a.raw.stdout === b.raw.stdout && a.raw.stderr === b.raw.stderr;
