import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import {
  type Bindings,
  type ChildLoggerOptions,
  type DestinationStream,
  type Logger,
  type LoggerOptions,
  pino,
} from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../config.ts';
import { secretPattern } from '../oauth/secret-format.ts';

/** The service's log. Secrets never enter it: headers are not logged, and addresses go through `withoutSecrets`. */
export function createLog(config: Pick<Config, 'log_level' | 'log_format'>): Logger {
  const options: LoggerOptions = {
    level: config.log_level,
    base: null,
    formatters: { log: (facts) => withoutSecretMembers(facts, deepest) },
  };
  const forPeople =
    config.log_format === 'pretty' || (config.log_format === 'auto' && process.stdout.isTTY);
  return forPeople
    ? pino(
        options,
        pretty({ colorize: process.stdout.isTTY, translateTime: 'SYS:HH:MM:ss', sync: true }),
      )
    : pino(options, turnByTurn(pino.destination({ dest: 1, sync: true })));
}

/**
 * Writes the lines of one turn of the event loop together, at its end. No longer than that: what a process did before
 * it was killed is what one looks for afterwards.
 */
function turnByTurn(output: DestinationStream): DestinationStream {
  let lines = '';
  const flush = (): void => {
    if (lines === '') return;
    const written = lines;
    lines = '';
    output.write(written);
  };
  process.on('exit', flush);
  return {
    write: (line) => {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
  };
}

const secretNames: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'location',
  'password',
  'code',
  'code_verifier',
  'device_code',
  'access_token',
  'refresh_token',
  'token',
  'client_secret',
  'secret',
  'consumerSecret',
  'admin_password',
  'secrets_key',
  'secrets_old_keys',
  'x-nonce',
]);
const deepest = 3;

/**
 * A net below the rule: should an object with such a member be logged one day, its value does not show.
 * By hand, since pino's own `redact` looks for each name at each depth and took a fifth of every request.
 */
function withoutSecretMembers(
  facts: Record<string, unknown>,
  depth: number,
): Record<string, unknown> {
  let clean: Record<string, unknown> | undefined;
  for (const name of Object.keys(facts)) {
    const value = facts[name];
    const shown = secretNames.has(name) ? '[redacted]' : shownValue(value, depth);
    if (shown === value) continue;
    clean ??= { ...facts };
    clean[name] = shown;
  }
  return clean ?? facts;
}

function shownValue(value: unknown, depth: number): unknown {
  // Errors have a serializer of their own, and a `code` that says what happened.
  if (typeof value !== 'object' || value === null || value instanceof Error || depth <= 1)
    return value;
  return Array.isArray(value)
    ? value.map((entry) => shownValue(entry, depth - 1))
    : withoutSecretMembers({ ...value }, depth - 1);
}

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
