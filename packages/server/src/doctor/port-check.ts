import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Finding, reasonOf, well, wrong } from './finding.ts';
import type { Holder } from './folder-checks.ts';

/** Whether the service can listen where it is told to, or does so already. */
export async function checkPort(
  host: string,
  port: number,
  holder: Holder | undefined,
): Promise<Finding> {
  const check = 'port';
  const at = `${host}:${port}`;
  if (port === 0) return well(check, 'A free port is taken at the start.');
  const problem = await tryToListen(host, port);
  if (problem === undefined) return well(check, `${at} is free.`);
  const code = 'code' in problem ? problem.code : undefined;
  if (code === 'EADDRINUSE') {
    if (holder !== undefined && portOf(holder.address) === port)
      return well(check, `${at} is where this service listens.`);
    return wrong(
      check,
      `Another program listens on ${at}.`,
      'Stop it, or set REACTORD_PORT to another port.',
    );
  }
  if (code === 'EACCES')
    return wrong(
      check,
      `This user may not listen on port ${port}.`,
      'Set REACTORD_PORT to one above 1023, and put a proxy in front of it.',
    );
  return wrong(
    check,
    `Nothing can listen on ${at} (${reasonOf(problem)}).`,
    "Set REACTORD_HOST to one of this machine's addresses.",
  );
}

async function tryToListen(host: string, port: number): Promise<Error | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    server.close();
  }
}

function portOf(address: string): number {
  const url = URL.parse(address);
  if (url === null) return 0;
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}
