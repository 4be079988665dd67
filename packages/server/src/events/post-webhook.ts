import { type LookupAddress, lookup as resolve } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { literalOf, mayReach } from '../reactors/webhook-address.ts';
import { version } from '../version.ts';

/** The address is one that webhooks may not reach. Trying again does not help. */
export class AddressRefused extends Error {}

export interface WebhookCall {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly stopping: AbortSignal;
  /** The operator's exceptions. */
  readonly allowed: readonly string[];
}

/** As much of an answer as is read, so that the other side can finish it in peace. Nothing of it is kept. */
const mostAnswerBytes = 64 * 1024;

/** One call. Resolves with the status of the answer, whatever it is; redirects are not followed. */
export function postWebhook(call: WebhookCall): Promise<number> {
  const url = new URL(call.url);
  const literal = literalOf(url);
  if (literal !== undefined && !mayReach(literal, call.allowed))
    return Promise.reject(refused(literal));
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((done, fail) => {
    const sent = request(url, {
      method: 'POST',
      // A connection of its own: one that is reused might have been made under other rules.
      agent: false,
      lookup: lookupAmong(call.allowed),
      signal: AbortSignal.any([AbortSignal.timeout(call.timeoutMs), call.stopping]),
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(call.body),
        'user-agent': `reactord/${version}`,
        ...call.headers,
      },
    });
    sent.on('error', (error) =>
      fail(error.name === 'TimeoutError' || error.name === 'AbortError' ? late(call) : error),
    );
    sent.on('response', (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > mostAnswerBytes) answer.destroy();
      });
      answer.on('error', () => undefined);
      done(answer.statusCode ?? 0);
    });
    sent.end(call.body);
  });
}

/**
 * Resolves names and lets only addresses through that may be reached. The connection is made to what came out of here,
 * so a name that answers otherwise the next time gains nothing.
 */
function lookupAmong(allowed: readonly string[]): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return callback(error, '', 0);
      const open = found.filter(({ address }) => mayReach(address, allowed));
      const [first] = open;
      if (first === undefined) return callback(refused(hostname), '', 0);
      if (options.all === true) return callback(null, open);
      return callback(null, first.address, first.family);
    });
  };
}

const refused = (name: string): AddressRefused =>
  new AddressRefused(
    `${name} is on this machine or in a private network, which the operator does not allow`,
  );

const late = ({ timeoutMs }: WebhookCall): Error =>
  new Error(`no answer within ${timeoutMs / 1000} s`);
