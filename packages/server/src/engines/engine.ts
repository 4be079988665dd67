/**
 * What the service needs of a container engine. A driver implements it; the conformance suite says when it is done.
 * Containers, networks and images are known by their names and labels, so that a service that was killed finds
 * everything again.
 */
export interface Engine {
  /** Resolves with a line such as "Docker 20.10.24 at unix:///var/run/docker.sock"; rejects with EngineUnavailable. */
  ping(): Promise<string>;
  /** Makes what every first container would have to wait for. Nothing depends on it but speed. */
  prepare(): Promise<void>;
  /** The address on this machine at which containers reach it; undefined where the engine is on another machine. */
  gatewayAddress(): Promise<string | undefined>;

  /**
   * Fetches an image from its registry. Rejects with PullFailed, whose sentence a person understands. Callers that ask
   * for the same image at the same time share one pull; it ends early only when all of them have given up.
   */
  pull(reference: string, options?: PullOptions): Promise<Image>;
  /** The image as the engine has it now; undefined when it has none under this reference. Never asks a registry. */
  findImage(reference: string): Promise<Image | undefined>;

  /**
   * Makes a container and does not start it. The name is the identity: where a container of that name exists already,
   * it is adopted, not made a second time. Rejects with ImageGone when the engine does not have the image.
   */
  create(spec: ContainerSpec): Promise<{ readonly id: string; readonly adopted: boolean }>;
  /** Puts files into a container that has not started. */
  handOver(id: string, files: readonly HandedFile[]): Promise<void>;
  /**
   * Everything the container will write, from its first byte. Asked for before `start`. A reader that is slow slows the
   * container down; nothing is dropped and little is held in memory. Should the engine go away meanwhile, the output
   * ends with EngineUnavailable, and `replay` has what is missing.
   */
  attach(id: string): Promise<ContainerOutput>;
  /**
   * Everything the container has written so far and, while it runs, what it will write: for a service that comes back.
   * Each stream has the same bytes in the same order as `attach` gave, so that a reader can skip as many as it has. Of a
   * container that wrote more than twice its `logBytes`, the oldest are gone.
   */
  replay(id: string): Promise<ContainerOutput>;
  /**
   * Starts it, once: no error, and no effect, when it runs already or has ended. A program that the image does not have
   * is refused, or ends with exit code 127 and a line on stderr, as the engine has it.
   */
  start(id: string): Promise<void>;
  /**
   * Resolves when the container has ended; at once when it has already. May be asked before `start`. Waits on while the
   * engine is away. Rejects with ContainerGone when there is no such container any more.
   */
  ended(id: string): Promise<ContainerEnd>;
  /** Asks it to stop, and kills it after the grace. No error when it has ended or is gone. */
  stop(id: string, graceSeconds: number): Promise<void>;
  /** Removes it, running or not, with its anonymous volumes. No error when it is gone. */
  remove(id: string): Promise<void>;
  /**
   * What the container has sent to its socket; undefined where it has none. Asked for before `remove`: then it is gone.
   */
  sent(id: string): Promise<SentDatagrams | undefined>;
  /** What it used, read after the end and before `remove`; undefined where nothing is known. */
  usage(id: string): Promise<Usage | undefined>;
  list(labels: Readonly<Record<string, string>>): Promise<readonly ContainerSummary[]>;

  /** Removes what the driver itself has made and lost sight of, after a kill for one. Cheap: for a reaper. */
  tidy(): Promise<void>;
  /**
   * Removes the service's containers that carry all of these labels, running or not, and once none is left also what
   * the driver itself has made: after it, nothing of the service is on the engine.
   */
  removeLeftovers(labels: Readonly<Record<string, string>>): Promise<void>;
  /** Ends what the driver does in the background. Containers run on, and a later driver finds them. */
  close(): Promise<void>;
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
  /** Instead of the image's own. */
  readonly entrypoint?: readonly string[] | undefined;
  readonly command?: readonly string[] | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: ContainerLimits;
  /** How much output the service keeps of it: the engine keeps at least twice as much, for `replay`. */
  readonly logBytes?: number | undefined;
  /**
   * Containers of one group trust each other: they may use one network place, one after the other and never at once.
   * Those of different groups never do.
   */
  readonly group?: string | undefined;
  /** Folders or sockets of this machine that the container sees. */
  readonly mounts?: readonly {
    readonly from: string;
    readonly to: string;
    readonly readOnly: boolean;
  }[];
  /** Where the driver cannot gather what a container sends, it runs without. */
  readonly datagrams?: DatagramSocket | undefined;
  readonly privileged?: boolean;
}

/** A Unix socket inside a container, to which it may send datagrams of at least 128 KiB. */
export interface DatagramSocket {
  /** Its paths: one socket under each of these names. */
  readonly paths: readonly string[];
  /** What tells the container of it, set only where it is there. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * What a container has sent, in order. It is kept while the service is away, up to the driver's limit; a datagram that
 * does not fit any more is dropped.
 */
export interface SentDatagrams {
  /** From this place on, as far as it is there; 0 is the beginning. Empty ones are left out. */
  read(from: number): AsyncIterable<SentDatagram>;
  /** Calls when there may be more. Returns the way to stop that. */
  onMore(listener: () => void): () => void;
  /** Resolves when everything that was sent before is there to be read. */
  complete(): Promise<void>;
}

export interface SentDatagram {
  readonly bytes: Uint8Array;
  /** The place behind it. */
  readonly next: number;
}

interface ContainerLimits {
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
  /** Never after the end. */
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
  /** Counted by the kernel to the end. Otherwise the last sample before the end: a lower bound. */
  readonly exact: boolean;
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
  override readonly name = 'EngineUnavailable';
}

/** The engine answered, and does not do it; the message has its own words. */
export class EngineRefused extends Error {
  override readonly name = 'EngineRefused';
}

/** There is no container of this id or name any more. */
export class ContainerGone extends Error {
  override readonly name = 'ContainerGone';

  constructor(container: string) {
    super(`There is no container ${container}.`);
  }
}

/** The engine does not have this image. */
export class ImageGone extends Error {
  override readonly name = 'ImageGone';

  constructor(image: string) {
    super(`The engine does not have the image ${image}.`);
  }
}

export type PullFailure =
  | 'not found'
  | 'unreachable'
  | 'refused'
  | 'invalid reference'
  | 'given up'
  | 'failed';

/** A pull that did not work; the message is a sentence for the person who named the image. */
export class PullFailed extends Error {
  override readonly name = 'PullFailed';
  readonly reason: PullFailure;

  constructor(reason: PullFailure, sentence: string) {
    super(sentence);
    this.reason = reason;
  }
}
