import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Bindings, ChildLoggerOptions } from 'pino';
import { secretPattern } from '../oauth/secret-format.ts';

/** One line when a reply is out, with what a person searches for; probes that come every second are left out. */
export class OneLinePerRequest extends LogController {
  readonly #log: FastifyBaseLogger;

  constructor(log: FastifyBaseLogger) {
    super();
    this.#log = log;
  }

  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    if (!error && (request.url === '/health' || request.url === '/ready')) return;
    const facts = {
      reqId: request.id,
      method: request.method,
      url: withoutSecrets(request.url),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      from: request.ip,
    };
    if (!error) this.#log.info(facts, 'request');
    else this.#log.warn({ ...facts, err: error }, 'reply not delivered');
  }
}

/** The log of one request: its lines carry the request's id. Made when a line is written, which few requests do. */
class RequestLog {
  readonly #log: FastifyBaseLogger;
  readonly #bindings: Bindings;
  readonly #options: ChildLoggerOptions;
  #made: FastifyBaseLogger | undefined;

  constructor(log: FastifyBaseLogger, bindings: Bindings, options: ChildLoggerOptions) {
    this.#log = log;
    this.#bindings = bindings;
    this.#options = options;
  }

  get level(): string {
    return this.#log.level;
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line);
  }

  error(...line: unknown[]): void {
    this.#write('error', line);
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line);
  }

  info(...line: unknown[]): void {
    this.#write('info', line);
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line);
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line);
  }

  silent(): void {}

  child(bindings: Bindings, options?: ChildLoggerOptions): FastifyBaseLogger {
    return this.#child.child(bindings, options);
  }

  #write(level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace', line: unknown[]): void {
    Reflect.apply(this.#child[level], this.#child, line);
  }

  get #child(): FastifyBaseLogger {
    this.#made ??= this.#log.child(this.#bindings, this.#options);
    return this.#made;
  }
}

export function requestLog(
  log: FastifyBaseLogger,
  bindings: Bindings,
  options: ChildLoggerOptions,
): FastifyBaseLogger {
  return new RequestLog(log, bindings, options);
}

/** What a parameter's name looks like, and hardly any secret that somebody put into its place. */
const plainName = /^[a-z][a-z_.-]{0,30}$/i;

/** Query strings may carry codes, tokens, nonces and states: only the names of the parameters are kept. */
export function withoutSecrets(url: string): string {
  const clean = url.includes('rct_') ? url.replaceAll(secretPattern, '…') : url;
  if (!clean.includes('?')) return clean;
  const [path = '', query = ''] = clean.split('?', 2);
  if (query === '') return path;
  const names = query.split('&').map((pair) => pair.split('=', 1)[0] ?? '');
  return `${path}?${names.map((name) => (plainName.test(name) ? name : '…')).join('&')}`;
}
