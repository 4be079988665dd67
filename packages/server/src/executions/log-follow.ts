import type { OutputStream } from '../engines/engine.ts';
import { type Execution, isOver } from './execution.ts';
import type { Executions } from './executions.ts';
import { type LogPart, linesOf } from './log-lines.ts';
import { droppedNotice } from './log-notice.ts';
import type { LogStore } from './log-store.ts';
import { textOf } from './log-text.ts';

export interface FollowWish {
  readonly executionId: string;
  readonly stream: OutputStream | undefined;
  /** Where an earlier connection has come to. */
  readonly after: number | undefined;
  /** How many of the lines that are there already; undefined: all. */
  readonly tail: number | undefined;
  /** Whether whoever follows may still do so; asked each second. */
  readonly stillAllowed: () => Promise<boolean>;
}

/** A log that another process writes is looked at so often. */
const lookMilliseconds = 100;
/** What this process writes is told to it; looking is for the case that something was overlooked. */
const lookHereMilliseconds = 1000;
/** How often the status is asked for where nobody tells of it. */
const statusMilliseconds = 500;
const allowedMilliseconds = 1000;
const batchCharacters = 64 * 1024;

type FollowedLogs = Pick<LogStore, 'find' | 'read' | 'tail' | 'onMore' | 'isWrittenHere'>;

/**
 * Those who follow logs, all of them. Each reads from the store at its own pace, so that a slow one holds up nobody and
 * has nothing gathered for it.
 */
export class LogFollowing {
  readonly #logs: FollowedLogs;
  readonly #executions: Pick<Executions, 'byId'>;
  /** A line without meaning, so that nobody between here and the client thinks that the connection is dead. */
  readonly #keepAliveMs: number;
  readonly #wakers = new Map<string, Set<() => void>>();
  readonly #stopping = new AbortController();

  constructor(
    logs: FollowedLogs,
    executions: Pick<Executions, 'byId' | 'onStarted' | 'onSettled'>,
    { keepAliveMs = 15_000 }: { readonly keepAliveMs?: number } = {},
  ) {
    this.#logs = logs;
    this.#executions = executions;
    this.#keepAliveMs = keepAliveMs;
    const wake = (executionId: string) => {
      for (const waker of this.#wakers.get(executionId) ?? []) waker();
    };
    executions.onStarted(wake);
    executions.onSettled(wake);
  }

  /** Ends every stream; those who follow find a service again and go on from where they were. */
  stop(): void {
    this.#stopping.abort();
  }

  /** How many follow. */
  get size(): number {
    let followers = 0;
    for (const wakers of this.#wakers.values()) followers += wakers.size;
    return followers;
  }

  /** Server-sent events: what there is, then what comes, then the end. `signal`: the client has left. */
  async *events(wish: FollowWish, signal: AbortSignal): AsyncGenerator<Buffer> {
    const { executionId, stream } = wish;
    const ended = AbortSignal.any([signal, this.#stopping.signal]);
    const bell = new Bell(ended);
    const status = new StatusWatch(() => this.#executions.byId(executionId));
    const unsubscribe = this.#listen(executionId, bell, status);
    try {
      // Sent at once, so that the client knows that it is connected; and how soon it should come back.
      yield Buffer.from('retry: 1000\n\n');
      let place = await this.#firstPlace(wish);
      let lastSent = performance.now();
      const permission = new PermissionWatch(wish.stillAllowed);
      while (!ended.aborted && (await permission.holds())) {
        // The log is read after the status: everything is in it before an execution is over.
        const execution = await status.look();
        const log = await this.#logs.find(executionId);
        const size = log?.size ?? 0;
        for await (const events of this.#batches(executionId, stream, place, size)) {
          yield Buffer.from(events);
          if (ended.aborted) return;
          lastSent = performance.now();
        }
        place = Math.max(place, size);
        if (execution === undefined) return;
        if (isOver(execution)) {
          const notice = log && (await droppedNotice(this.#logs, executionId, log, stream));
          return yield Buffer.from(lastEvents(notice, place, execution));
        }
        if (performance.now() - lastSent >= this.#keepAliveMs) {
          yield Buffer.from(': still here\n\n');
          lastSent = performance.now();
        }
        const here = this.#logs.isWrittenHere(executionId);
        await bell.wait(here ? lookHereMilliseconds : lookMilliseconds);
      }
    } finally {
      unsubscribe();
    }
  }

  async #firstPlace({ executionId, stream, after, tail }: FollowWish): Promise<number> {
    if (after !== undefined) return after;
    return tail === undefined ? 0 : this.#logs.tail(executionId, tail, stream);
  }

  /** The events of the log between two places, a bounded number at a time. */
  async *#batches(
    executionId: string,
    stream: OutputStream | undefined,
    from: number,
    to: number,
  ): AsyncGenerator<string> {
    let batch = '';
    for await (const part of this.#logs.read(executionId, from, to)) {
      if (stream !== undefined && part.stream !== stream) continue;
      for (const line of linesOf(part)) {
        batch += lineEvent(line);
        if (batch.length < batchCharacters) continue;
        yield batch;
        batch = '';
      }
    }
    if (batch !== '') yield batch;
  }

  #listen(executionId: string, bell: Bell, status: StatusWatch): () => void {
    const onStatus = () => {
      status.news();
      bell.ring();
    };
    const wakers = this.#wakers.get(executionId) ?? new Set();
    this.#wakers.set(executionId, wakers.add(onStatus));
    const unsubscribe = this.#logs.onMore(executionId, () => bell.ring());
    return () => {
      unsubscribe();
      wakers.delete(onStatus);
      if (wakers.size === 0) this.#wakers.delete(executionId);
    };
  }
}

/** Was there when the stream was opened, and is asked for again each second. */
class PermissionWatch {
  readonly #ask: () => Promise<boolean>;
  #askedAt = performance.now();

  constructor(ask: () => Promise<boolean>) {
    this.#ask = ask;
  }

  async holds(): Promise<boolean> {
    if (performance.now() - this.#askedAt < allowedMilliseconds) return true;
    this.#askedAt = performance.now();
    return this.#ask();
  }
}

/** The status is asked for when somebody tells of news, and now and then. */
class StatusWatch {
  readonly #ask: () => Promise<Execution | undefined>;
  #execution: Execution | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(ask: () => Promise<Execution | undefined>) {
    this.#ask = ask;
  }

  news(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  async look(): Promise<Execution | undefined> {
    if (performance.now() - this.#askedAt >= statusMilliseconds) {
      // Before asking: news that come meanwhile are a reason to ask again.
      this.#askedAt = performance.now();
      this.#execution = await this.#ask();
    }
    return this.#execution;
  }
}

/** Rung when there is something new; also while nobody waits. */
class Bell {
  readonly #ended: AbortSignal;
  #rung = false;
  #waiting: (() => void) | undefined;

  constructor(ended: AbortSignal) {
    this.#ended = ended;
    ended.addEventListener('abort', () => this.ring(), { once: true });
  }

  ring(): void {
    this.#rung = true;
    this.#waiting?.();
  }

  /** Resolves when it is or was rung, or after the time. */
  async wait(milliseconds: number): Promise<void> {
    if (!this.#rung && !this.#ended.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#waiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#waiting = undefined;
    }
    this.#rung = false;
  }
}

/** A line with its line end; one that was written in pieces is as many events. */
const lineEvent = ({ stream, time, bytes, end }: LogPart): string =>
  logEvent(end, { stream, time: new Date(time).toISOString(), text: textOf(bytes) });

function lastEvents(
  notice: string | undefined,
  place: number,
  { status, exitCode, finishedAt }: Execution,
): string {
  const time = new Date((finishedAt ?? 0) / 1000).toISOString();
  const said =
    notice === undefined ? '' : logEvent(place, { stream: 'notice', time, text: notice });
  return `${said}event: end\ndata: ${JSON.stringify({ status, exitCode })}\n\n`;
}

const logEvent = (id: number, data: object): string =>
  `event: log\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
