import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { EngineAddress } from './address.ts';

/** A request to the engine, not yet ended. `signal` limits the whole exchange: a `timeout` counts idle time only. */
function openRequest(
  address: EngineAddress,
  method: string,
  path: string,
  signal: AbortSignal,
): ClientRequest {
  const common = { method, path, signal, agent: false } as const;
  if (address.kind === 'unix') return httpRequest({ ...common, socketPath: address.path });
  const { host, port, tls } = address;
  return tls === undefined
    ? httpRequest({ ...common, host, port })
    : httpsRequest({ ...common, host, port, ...tls });
}

/** One call of the Docker API: its answer as text. Rejects when there is none within the limit, or with an error status. */
export function callDocker(
  address: EngineAddress,
  method: string,
  path: string,
  limitMs = 3_000,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const signal = AbortSignal.timeout(limitMs);
  const request = openRequest(address, method, path, signal);
  request.on('error', (error) =>
    reject(signal.aborted ? new Error(`no answer in ${limitMs / 1000} s`) : error),
  );
  request.on('response', (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('error', reject);
    response.on('end', () => {
      const status = response.statusCode ?? 0;
      if (status < 400) resolve(text);
      else reject(new Error(`it answered ${status}`));
    });
  });
  request.end();
  return promise;
}
