/**
 * What the service needs of a container engine. A driver implements it; the conformance suite says when it is done.
 * Containers, networks and images are known by their names and labels, so that a service that was killed finds
 * everything again.
 */
export interface Engine {
  /** Resolves with a line such as "Docker 20.10.24 at unix:///var/run/docker.sock"; rejects with EngineUnavailable. */
  ping(): Promise<string>;

  /** Fetches an image from its registry. Rejects with PullFailed, whose sentence a person understands. */
  pull(reference: string, options?: PullOptions): Promise<Image>;
  /** The image as the engine has it now; undefined when it has none under this reference. Never asks a registry. */
  findImage(reference: string): Promise<Image | undefined>;

  /**
   * Makes a container and does not start it. The name is the identity: where a container of that name exists already,
   * it is adopted, not made a second time.
   */
  create(spec: ContainerSpec): Promise<{ readonly id: string; readonly adopted: boolean }>;
  /** Puts files into a container that has not started. */
  handOver(id: string, files: readonly HandedFile[]): Promise<void>;
  /** Everything the container will write, from its first byte. Asked for before `start`. */
  attach(id: string): Promise<ContainerOutput>;
  /** Everything the container has written so far and, while it runs, what it will write: for a service that comes back. */
  replay(id: string): Promise<ContainerOutput>;
  start(id: string): Promise<void>;
  /** Resolves when the container has ended; at once when it has already. Rejects with ContainerGone when there is none. */
  ended(id: string): Promise<ContainerEnd>;
  /** Asks it to stop, and kills it after the grace. No error when it has ended or is gone. */
  stop(id: string, graceSeconds: number): Promise<void>;
  /** Removes it, running or not, with its anonymous volumes. No error when it is gone. */
  remove(id: string): Promise<void>;
  /** Exact figures, read after the end and before `remove`; undefined where the engine cannot tell. */
  usage(id: string): Promise<Usage | undefined>;
  list(labels: Readonly<Record<string, string>>): Promise<readonly ContainerSummary[]>;
}

export interface PullOptions {
  readonly credentials?: RegistryCredentials | undefined;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

export interface PullProgress {
  readonly layers: number;
  readonly layersDone: number;
  readonly bytes: number;
  readonly bytesDone: number;
}

export interface Image {
  /** The content's own id, `sha256:…`. */
  readonly id: string;
  /** The registry's digest, where it came from one. */
  readonly digest: string | undefined;
}

export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: ContainerLimits;
  /** Folders or sockets of this machine that the container sees. */
  readonly mounts?: readonly {
    readonly from: string;
    readonly to: string;
    readonly readOnly: boolean;
  }[];
  readonly privileged?: boolean;
}

export interface ContainerLimits {
  readonly memoryBytes: number;
  /** In cores: 0.5 is half of one. */
  readonly cpus: number;
  readonly processes: number;
}

export interface HandedFile {
  readonly path: string;
  readonly mode: number;
  readonly content: Uint8Array;
}

export type OutputStream = 'stdout' | 'stderr';

export interface OutputChunk {
  readonly stream: OutputStream;
  /** When it was written, in ms since the epoch, as well as the engine knows. */
  readonly time: number;
  readonly bytes: Uint8Array;
}

/** Ends when the container has ended and its last byte was handed out, also an unterminated line. */
export type ContainerOutput = AsyncIterable<OutputChunk> & { close(): void };

export interface ContainerEnd {
  readonly exitCode: number;
  readonly outOfMemory: boolean;
  /** The engine's own word for what went wrong, often empty. */
  readonly error: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  /** The state as the engine tells it, with the names of the interface's finalState. */
  readonly finalState: FinalState;
}

export interface FinalState {
  readonly Dead: boolean;
  readonly Error: string;
  readonly ExitCode: number;
  readonly FinishedAt: string;
  readonly OOMKilled: boolean;
  readonly Paused: boolean;
  readonly Pid: number;
  readonly Restarting: boolean;
  readonly Running: boolean;
  readonly StartedAt: string;
  readonly Status: string;
}

export interface Usage {
  /** Nanoseconds of CPU time. */
  readonly cpu: number;
  /** Bytes over the network, both ways, and of block I/O. */
  readonly io: number;
}

export interface ContainerSummary {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'created' | 'running' | 'ended';
  readonly createdAt: number;
}

/** The engine is missing or does not answer; the sentence says which, and what to do. Nothing is known to have happened. */
export class EngineUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EngineUnavailable';
  }
}
