import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { instanceOf, ownerOf } from '../../src/executions/instance.ts';
import { until } from './until.ts';

/** The engine of the tests, where setup names one. */
const { REACTORD_TEST_ENGINE: engine } = process.env;

const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface ServiceOptions {
  /** A folder of an earlier service to start on again; a new one otherwise. */
  readonly data?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** Let its log go nowhere: reading it would take time from what is measured. */
  readonly unheard?: boolean;
}

export interface RunningService {
  readonly url: string;
  readonly data: string;
  readonly pid: number;
  /** Everything the process has written so far. */
  output(): string;
  errors(): string;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal's name. */
  ended: Promise<number | string>;
  /** Stops it, waits for its end and removes its data. */
  dispose(): Promise<void>;
}

export const adminPassword = 'correct horse battery';

/** For tests whose containers are to wait for messages. The others do without: half as many containers are made. */
export const withSpares = { REACTORD_SPARE_CONTAINERS: '8' } as const;
const withoutSpares = { REACTORD_SPARE_CONTAINERS: '0' };

/** Starts the real service as a process of its own, on a free port and a folder of its own, and waits until it is healthy. */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const service = launchService(options);
  const url = await until('the service to be healthy', async () => {
    const ended = await Promise.race([service.ended, Promise.resolve(undefined)]);
    if (ended !== undefined) throw new Error(`it ended with ${ended}: ${service.errors()}`);
    const address = readAddress(service.data, service.pid);
    if (address === undefined) return undefined;
    return (await fetch(`${address}/health`)).ok ? address : undefined;
  });
  return { ...service, url };
}

/** Starts the process without waiting for anything. */
export function launchService(options: ServiceOptions = {}): Omit<RunningService, 'url'> {
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'reactord-test-'));
  const child = spawn(process.execPath, [entry, ...(options.flags ?? [])], {
    env: {
      ...cleanEnvironment(),
      REACTORD_DATA: data,
      REACTORD_PORT: '0',
      ...(engine && { REACTORD_ENGINE: engine }),
      REACTORD_ADMIN_PASSWORD: adminPassword,
      ...withoutSpares,
      ...options.environment,
    },
    stdio: ['ignore', options.unheard === true ? 'ignore' : 'pipe', 'pipe'],
  });
  const output = collect(child.stdout);
  const errors = collect(child.stderr);
  const ended = endOf(child);
  return {
    data,
    pid: child.pid ?? 0,
    output,
    errors,
    signal: (name) => child.kill(name),
    ended,
    dispose: async () => {
      child.kill('SIGKILL');
      await ended;
      await clearEngine(data);
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** A service that is killed leaves what it made on the engine to the next one on its folder; here there is none. */
export async function clearEngine(data: string): Promise<void> {
  if (!existsSync(join(data, 'instance'))) return;
  const engine = new DockerEngine({
    address: process.env['REACTORD_TEST_ENGINE'] || undefined,
    environment: process.env,
    owner: ownerOf(instanceOf(data)),
  });
  await engine.removeLeftovers({}).catch(() => {});
  await engine.close();
}

function readAddress(data: string, pid: number): string | undefined {
  try {
    const about: { pid: number; address: string } = JSON.parse(
      readFileSync(join(data, 'service.json'), 'utf8'),
    );
    return about.pid === pid ? about.address : undefined;
  } catch {
    return undefined;
  }
}

async function endOf(child: ChildProcess): Promise<number | string> {
  const [code, signal] = await once(child, 'close');
  return code ?? signal;
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  if (stream === null) return () => text;
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

/** The settings of whoever runs the tests must not reach the service under test. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('REACTORD_')),
  );
}
