import { ConnectionError, TimeoutError, UnavailableError } from '../errors.ts';
import { pause } from '../http/pause.ts';
import { type Said, type ServerEvent, ServerEventReader } from './server-sent-events.ts';

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
  const patience = new Patience();
  let lastId: string | undefined;
  for (;;) {
    const connection = new Connection(wish, lastId);
    try {
      for await (const said of connection.said()) {
        patience.heard(said);
        if ('retryMs' in said) continue;
        lastId = said.id === '' ? lastId : said.id;
        yield said;
        if (isLast(said)) return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      patience.bear(error);
    } finally {
      connection.close();
    }
    await patience.pause(signal);
  }
}

/** In a row, beside the tries that opening makes by itself. */
const mostFailures = 10;

/** How long, and how often, to come back. A stream that was never there is not waited for: opening has tried by itself. */
class Patience {
  #failures = mostFailures;
  #firstMs = 1000;

  heard(said: NonNullable<Said>): void {
    this.#failures = 0;
    if ('retryMs' in said) this.#firstMs = said.retryMs;
  }

  /** What the service has answered is its last word; a connection can be made again. */
  bear(error: unknown): void {
    const isPassing =
      error instanceof ConnectionError ||
      error instanceof TimeoutError ||
      error instanceof UnavailableError;
    if (!isPassing || this.#failures >= mostFailures) throw error;
  }

  async pause(signal: AbortSignal | undefined): Promise<void> {
    if (this.#failures >= mostFailures)
      throw new ConnectionError('The stream ends as soon as it is opened.', undefined);
    const longest = Math.min(longestPauseMs, this.#firstMs * 2 ** this.#failures);
    this.#failures += 1;
    await pause(longest * (0.5 + Math.random() / 2), signal);
  }
}

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
