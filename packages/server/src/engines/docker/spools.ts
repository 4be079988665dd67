import { chmod, mkdir, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { HolderFolder } from './holder.ts';

export interface SpoolOptions {
  /** Where each holder has a folder. */
  readonly folder: string;
  /** How much is kept of what one container sends. */
  readonly mostBytes: number;
}

/** How long a holder may take to open its sockets, on a machine that is busy. */
const openingMs = 15_000;
const bellMs = 10_000;

/**
 * The folders in which holders keep what containers send, each seen by its holder alone; a container sees the socket
 * and nothing else of it. They are on this machine, so there are none where the engine is on another.
 */
export class Spools {
  readonly #options: SpoolOptions | undefined;
  /** An engine that does not see this machine's folders will not see the next one either. */
  #isOff = false;

  constructor(options: SpoolOptions | undefined) {
    this.#options = options;
  }

  /** A new folder for a holder that is about to be made. */
  async make(name: string): Promise<HolderFolder | undefined> {
    if (this.#options === undefined || this.#isOff) return undefined;
    const { folder, mostBytes } = this.#options;
    const path = join(folder, name);
    await mkdir(path, { recursive: true });
    await chmod(folder, 0o700);
    await (await open(join(path, 'spool'), 'a')).close();
    // The holder is nobody; the folder above keeps everybody else out.
    await chmod(path, 0o777);
    await chmod(join(path, 'spool'), 0o666);
    return { path, mostBytes };
  }

  /** Resolves when the holder has opened its sockets, which it does at once; otherwise there will be none. */
  async opened(name: string): Promise<void> {
    const until = performance.now() + openingMs;
    while (!(await this.gathers(name))) {
      if (performance.now() > until) {
        this.turnOff();
        return;
      }
      await pause(5);
    }
  }

  /** To be called before a holder is started again: a socket of its earlier life leads nowhere. */
  async closed(name: string): Promise<void> {
    for (const file of ['sink', 'bell'] as const) {
      const path = this.fileOf(name, file);
      if (path !== undefined) await rm(path, { force: true });
    }
  }

  turnOff(): void {
    this.#isOff = true;
  }

  async gathers(name: string): Promise<boolean> {
    const path = this.fileOf(name, 'bell');
    if (path === undefined) return false;
    return stat(path).then(
      (found) => found.isSocket(),
      () => false,
    );
  }

  fileOf(name: string, file: 'sink' | 'bell' | 'spool'): string | undefined {
    return this.#options && join(this.#options.folder, name, file);
  }

  /** Resolves when everything that was sent before is in the file; rejects when the holder is gone. */
  async ring(name: string): Promise<void> {
    if (this.#options === undefined) return;
    // The address of a socket has room for 107 bytes; a path by way of an open folder is short.
    const folder = await open(join(this.#options.folder, name), 'r');
    try {
      await hungUp(`/proc/self/fd/${folder.fd}/bell`);
    } finally {
      await folder.close();
    }
  }

  /** Makes the place ready for the next container. False: it cannot be used again. */
  async clear(name: string): Promise<boolean> {
    const path = this.fileOf(name, 'spool');
    if (path === undefined || !(await this.gathers(name))) return true;
    try {
      // What an earlier container sent must not be in what the next one sends.
      await this.ring(name);
      await truncate(path);
      return true;
    } catch {
      return false;
    }
  }

  async remove(name: string): Promise<void> {
    if (this.#options === undefined) return;
    await rm(join(this.#options.folder, name), { recursive: true, force: true }).catch(() => {});
  }

  /** Removes the folders of holders that nobody knows. */
  async tidy(isKnown: (name: string) => boolean): Promise<void> {
    if (this.#options === undefined) return;
    const found = await readdir(this.#options.folder).catch(() => []);
    for (const name of found) if (!isKnown(name)) await this.remove(name);
  }
}

function hungUp(path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(path);
  socket.setTimeout(bellMs, () => socket.destroy(new Error('the holder does not answer')));
  socket.once('error', reject);
  socket.once('end', () => resolve());
  socket.once('close', () => {
    socket.destroy();
    reject(new Error('the holder has hung up before'));
  });
  socket.resume();
  return promise;
}
