import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { type Logger, type LoggerOptions, pino } from 'pino';
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
    : // Each line at once: what a process did before it was killed is what one looks for afterwards.
      pino(options, pino.destination({ dest: 1, sync: true }));
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
  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    if (!error && (request.url === '/health' || request.url === '/ready')) return;
    const facts = {
      method: request.method,
      url: withoutSecrets(request.url),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      from: request.ip,
    };
    if (!error) request.log.info(facts, 'request');
    else request.log.warn({ ...facts, err: error }, 'reply not delivered');
  }
}

/** What a parameter's name looks like, and hardly any secret that somebody put into its place. */
const plainName = /^[a-z][a-z_.-]{0,30}$/i;

/** Query strings may carry codes, tokens, nonces and states: only the names of the parameters are kept. */
export function withoutSecrets(url: string): string {
  const [path = '', query] = url.replaceAll(secretPattern, '…').split('?', 2);
  if (query === undefined || query === '') return path;
  const names = query.split('&').map((pair) => pair.split('=', 1)[0] ?? '');
  return `${path}?${names.map((name) => (plainName.test(name) ? name : '…')).join('&')}`;
}
