import {
  type Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { EngineAddress } from './address.ts';

export interface RequestOptions {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Connections to share; a connection of its own otherwise. */
  readonly agent?: Agent | undefined;
}

/** A request to the engine, not yet ended. */
export function openRequest(address: EngineAddress, options: RequestOptions): ClientRequest {
  const { method, path, headers, signal, agent } = options;
  const common = {
    method,
    path,
    agent: agent ?? false,
    ...(headers && { headers: { ...headers } }),
    ...(signal && { signal }),
  };
  if (address.kind === 'unix') return httpRequest({ ...common, socketPath: address.path });
  const { host, port, tls } = address;
  return tls === undefined
    ? httpRequest({ ...common, host, port })
    : httpsRequest({ ...common, host, port, ...tls });
}

/** Sends a request and resolves with the head of the answer; its body is still to come. */
export function answerTo(
  request: ClientRequest,
  write: (request: ClientRequest) => void = (open) => open.end(),
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.on('error', reject);
  request.on('response', resolve);
  write(request);
  return promise;
}

/** Collects a body. Rejects when the engine breaks off in its middle. */
export async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** One call without any connection kept: its answer as text. Rejects when there is none within the limit, or with an error status. */
export async function callDocker(
  address: EngineAddress,
  method: string,
  path: string,
  limitMs = 3_000,
): Promise<string> {
  return (await fetchOnce(address, method, path, limitMs)).text;
}

/** The newest version of the API that the engine speaks, such as "1.41". */
export async function askApiVersion(address: EngineAddress, limitMs = 10_000): Promise<string> {
  const { headers } = await fetchOnce(address, 'GET', '/_ping', limitMs);
  return String(headers['api-version'] ?? '1.40');
}

async function fetchOnce(
  address: EngineAddress,
  method: string,
  path: string,
  limitMs: number,
): Promise<{ text: string; headers: IncomingMessage['headers'] }> {
  // Limits the whole exchange: a `timeout` of node:http counts idle time only.
  const signal = AbortSignal.timeout(limitMs);
  try {
    const response = await answerTo(openRequest(address, { method, path, signal }));
    const text = await readText(response);
    const status = response.statusCode ?? 0;
    if (status >= 400) throw new Error(`it answered ${status}`);
    return { text, headers: response.headers };
  } catch (error) {
    throw signal.aborted ? new Error(`no answer in ${limitMs / 1000} s`) : error;
  }
}
