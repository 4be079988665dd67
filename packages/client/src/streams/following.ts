import { ConnectionError, TimeoutError, UnavailableError } from '../errors.ts';
import { pause } from '../http/pause.ts';
import { type ServerEvent, ServerEventReader } from './server-sent-events.ts';

export interface Following {
  /** Opens the stream behind the event of this id, or from its beginning. */
  readonly open: (lastId: string | undefined, signal: AbortSignal) => Promise<Response>;
  /** Whether this event is the last; without it, a stream that ends is opened again. */
  readonly isLast: (event: ServerEvent) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The service says something at least every 15 seconds; who hears nothing for so long has lost the connection. */
const silenceMs = 45_000;
const longestPauseMs = 15_000;

/**
 * The events of a stream, each once, in order, also across broken connections and a service that was started again.
 * Refusals end it; so does the signal, with its reason.
 */
export async function* follow(wish: Following): AsyncGenerator<ServerEvent, void, void> {
  const { signal, isLast } = wish;
  let lastId: string | undefined;
  let pauseMs = 1000;
  for (let failures = 0; ; ) {
    const connection = new Connection(wish, lastId);
    try {
      for await (const said of connection.said()) {
        failures = 0;
        if ('retryMs' in said) {
          pauseMs = said.retryMs;
        } else {
          lastId = said.id === '' ? lastId : said.id;
          yield said;
          if (isLast(said)) return;
        }
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error) || failures >= mostFailures) throw error;
    } finally {
      connection.close();
    }
    failures += 1;
    await pause(pauseAfter(failures, pauseMs), signal);
  }
}

/** What the service has answered is its last word; a connection can be made again. */
const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  error instanceof TimeoutError ||
  error instanceof UnavailableError;

/** In a row, beside the tries that opening makes by itself. */
const mostFailures = 10;

const pauseAfter = (failures: number, firstMs: number): number =>
  Math.min(longestPauseMs, firstMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);

class Connection {
  readonly #wish: Following;
  readonly #lastId: string | undefined;
  readonly #left = new AbortController();

  constructor(wish: Following, lastId: string | undefined) {
    this.#wish = wish;
    this.#lastId = lastId;
  }

  close(): void {
    this.#left.abort();
  }

  async *said() {
    const { signal } = this.#wish;
    const ended = signal ? AbortSignal.any([signal, this.#left.signal]) : this.#left.signal;
    const reply = await this.#wish.open(this.#lastId, ended);
    const reader = reply.body?.getReader();
    const events = new ServerEventReader();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      for (;;) {
        timer = setTimeout(() => this.#left.abort(silent()), silenceMs);
        const piece = await reader?.read().catch((error: unknown) => {
          if (signal?.aborted) throw signal.reason;
          throw new ConnectionError('The stream broke off.', error);
        });
        clearTimeout(timer);
        if (piece === undefined || piece.done) return;
        yield* definedOf(events.read(piece.value));
      }
    } finally {
      clearTimeout(timer);
      await reader?.cancel().catch(() => {});
    }
  }
}

const silent = (): Error => new Error(`nothing was heard for ${silenceMs / 1000} s`);

function* definedOf<Value>(values: Iterable<Value | undefined>): Generator<Value> {
  for (const value of values) if (value !== undefined) yield value;
}
