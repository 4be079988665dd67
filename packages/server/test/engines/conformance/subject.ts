import type {
  ContainerEnd,
  ContainerOutput,
  ContainerSpec,
  Engine,
  OutputStream,
} from '../../../src/engines/engine.ts';
import { newId } from '../../../src/ids.ts';

/** An engine to be tested, and what a test needs around it. */
export interface Subject {
  readonly engine: Engine;
  /** An image with a shell and the usual small tools, which the engine has. */
  readonly image: string;
  /** Another driver for the same service, as after a restart of it. */
  again(): Engine;
  /** A driver to whom the engine can be made to go away. */
  behindProxy(): Promise<{
    readonly engine: Engine;
    cut(): Promise<void>;
    restore(): Promise<void>;
  }>;
  /** Pushes the image under this name to the registry in it, and takes the name off the engine again. */
  push(reference: string, login?: { username: string; password: string }): Promise<void>;
  /** Pushes another image, with other content. */
  pushAnother(reference: string): Promise<void>;
  /** Takes a pulled image off the engine. */
  forget(reference: string): Promise<void>;
  /** Whatever of the service is on the engine or in the kernel now, in words. */
  traces(): Promise<readonly string[]>;
  dispose(): Promise<void>;
}

export type SpecChange = Partial<ContainerSpec>;

export function specOf(
  subject: Pick<Subject, 'image'>,
  script: string,
  change: SpecChange = {},
): ContainerSpec {
  return {
    name: `test-${newId()}`,
    image: subject.image,
    command: ['sh', '-c', script],
    environment: {},
    labels: {},
    group: 'tests',
    limits: { memoryBytes: 64 * 1024 * 1024, cpus: 1, processes: 64 },
    ...change,
  };
}

export interface Written {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export async function collect(output: ContainerOutput): Promise<Written> {
  const parts: Record<OutputStream, Uint8Array[]> = { stdout: [], stderr: [] };
  for await (const { stream, bytes } of output) parts[stream].push(Buffer.from(bytes));
  return { stdout: Buffer.concat(parts.stdout), stderr: Buffer.concat(parts.stderr) };
}

export interface Run {
  readonly id: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly end: ContainerEnd;
}

/** Runs a script to its end, and hands the ended container to `look` before it is removed. */
export async function run(
  subject: Subject,
  script: string,
  change: SpecChange = {},
  look: (run: Run) => Promise<void> = async () => {},
): Promise<Run> {
  const { engine } = subject;
  const { id } = await engine.create(specOf(subject, script, change));
  try {
    const written = collect(await engine.attach(id));
    const ended = engine.ended(id);
    // When the start fails, these fail too, as the container is removed.
    for (const promise of [written, ended]) promise.catch(() => {});
    await engine.start(id);
    const { stdout, stderr } = await written;
    const done = { id, stdout: stdout.toString(), stderr: stderr.toString(), end: await ended };
    await look(done);
    return done;
  } finally {
    await engine.remove(id);
  }
}

/** Starts a script and waits until it has written this; it runs on. */
export async function startUntil(
  engine: Engine,
  spec: ContainerSpec,
  mark: string,
): Promise<{ id: string; output: ContainerOutput }> {
  const { id } = await engine.create(spec);
  const output = await engine.attach(id);
  await engine.start(id);
  let text = '';
  const iterator = output[Symbol.asyncIterator]();
  while (!text.includes(mark)) {
    const { value, done } = await iterator.next();
    if (done) throw new Error(`it ended and wrote: ${text}`);
    text += Buffer.from(value.bytes).toString();
  }
  return { id, output: { close: output.close, [Symbol.asyncIterator]: () => iterator } };
}
