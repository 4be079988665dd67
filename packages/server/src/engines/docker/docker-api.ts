import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { EngineAddress } from './find.ts';
import { tlsCertificates } from './tls.ts';

const answerLimitMs = 3_000;

/** One call of the Docker API that answers JSON. */
export function callDocker(
  address: EngineAddress,
  environment: Readonly<Record<string, string | undefined>>,
  method: string,
  path: string,
): Promise<unknown> {
  const request = address.kind === 'tcp' && address.tls ? httpsRequest : httpRequest;
  const options: RequestOptions = {
    ...connectionTo(address, environment),
    method,
    path,
    timeout: answerLimitMs,
  };
  return new Promise((resolve, reject) => {
    const call = request(options, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('error', reject);
      reply.on('end', () => {
        const status = reply.statusCode ?? 0;
        if (status >= 400) return reject(new Error(`it answered ${status}`));
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
        } catch {
          reject(new Error('it did not answer JSON'));
        }
      });
    });
    call.on('timeout', () => call.destroy(new Error(`no answer in ${answerLimitMs / 1000} s`)));
    call.on('error', reject);
    call.end();
  });
}

function connectionTo(
  address: EngineAddress,
  environment: Readonly<Record<string, string | undefined>>,
): RequestOptions & { ca?: Buffer; cert?: Buffer; key?: Buffer } {
  if (address.kind === 'unix') return { socketPath: address.path };
  const { host, port, tls } = address;
  return { host, port, ...(tls ? tlsCertificates(environment) : {}) };
}

export function describeAddress(address: EngineAddress): string {
  return address.kind === 'unix'
    ? `unix://${address.path}`
    : `tcp://${address.host}:${address.port}`;
}
