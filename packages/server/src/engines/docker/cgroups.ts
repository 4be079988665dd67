import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { EngineFacts } from './facts.ts';
import { KernelLog } from './kernel-log.ts';

export interface CgroupFigures {
  readonly cpu: number;
  readonly blockBytes: number;
}

/** The kernel kills for up to eight pages that it could not give. */
const largestRequest = 8 * 64 * 1024;

type Layout = Pick<EngineFacts, 'cgroupDriver' | 'cgroupVersion'>;

/**
 * A control group per container, above the engine's own, which is gone when the container has ended. The kernel adds up
 * in it what ran below, so that the figures are exact after the end.
 *
 * Version 1 forgets the block I/O of a group that is gone; there it is 0.
 */
export class Cgroups {
  readonly #owner: string;
  readonly #root: string;
  readonly #kernelLog = new KernelLog();

  constructor(owner: string, root = '/sys/fs/cgroup') {
    this.#owner = owner;
    this.#root = root;
  }

  /** Whether this process can read, and remove, groups of an engine on this machine. */
  areWithin(layout: Layout): boolean {
    if (layout.cgroupDriver === 'none') return false;
    try {
      accessSync(this.#hierarchy(layout, 'cpuacct'), constants.W_OK);
      return true;
    } catch {
      return false;
    }
  }

  /** What to give the engine as the container's CgroupParent. */
  parentOf(container: string, layout: Layout): string {
    if (layout.cgroupDriver === 'cgroupfs') return `/${this.#owner}/${container}`;
    // A dash in a slice's name is a step down in the tree.
    return `${this.#owner.replaceAll('-', '_')}-${container.replaceAll('-', '_')}.slice`;
  }

  /** Undefined when there is no such group on this machine. */
  async figures(parent: string, layout: Layout): Promise<CgroupFigures | undefined> {
    const inGroup = (controller: string, file: string): Promise<string> =>
      this.#read(parent, layout, controller, file);
    try {
      if (layout.cgroupVersion === 1) {
        return { cpu: Number(await inGroup('cpuacct', 'cpuacct.usage')), blockBytes: 0 };
      }
      const [cpu, io] = await Promise.all([
        inGroup('', 'cpu.stat'),
        inGroup('', 'io.stat').catch(() => ''),
      ]);
      return {
        cpu: 1000 * sumOf(cpu, /^usage_usec (\d+)/gm),
        blockBytes: sumOf(io, /\b[rw]bytes=(\d+)/g),
      };
    } catch {
      return undefined;
    }
  }

  /** To be kept for a container that is made now, and given back to `ranOutOfMemory`. */
  killsSoFar(layout: Layout): number {
    return layout.cgroupVersion === 1 ? this.#kernelLog.killsSoFar() : 0;
  }

  /** Whether the kernel killed a process of it for want of memory, whatever the engine says. */
  async ranOutOfMemory(
    parent: string,
    layout: Layout,
    before: { readonly memoryBytes: number; readonly kills: number },
  ): Promise<boolean> {
    try {
      if (layout.cgroupVersion === 2) {
        const events = await this.#read(parent, layout, '', 'memory.events');
        return sumOf(events, /^oom_kill (\d+)/gm) > 0;
      }
      // Version 1 forgets the kills too. Only one that was at its limit can have had any.
      const peak = Number(await this.#read(parent, layout, 'memory', 'memory.max_usage_in_bytes'));
      return (
        peak >= before.memoryBytes - largestRequest &&
        this.#kernelLog.tellsOfKill(parent, before.kills)
      );
    } catch {
      return false;
    }
  }

  async remove(parent: string, layout: Layout): Promise<void> {
    if (layout.cgroupDriver === 'systemd' && existsSync('/run/systemd/system')) {
      await promisify(execFile)('systemctl', ['stop', parent]).catch(() => {});
    }
    const folders = await this.#everywhere(layout, (controller) =>
      this.#folder(parent, layout, controller),
    );
    await Promise.all(folders.map(removeFolder));
  }

  /** Removes the groups of containers that are not among these names, and the folder of all when it is empty. */
  async removeOthers(containers: ReadonlySet<string>, layout: Layout): Promise<void> {
    const kept = new Set([...containers].map((name) => this.parentOf(name, layout)));
    for (const folder of await this.#everywhere(layout, (controller) =>
      this.#family(layout, controller),
    )) {
      for (const name of await foldersIn(folder)) {
        const parent = layout.cgroupDriver === 'cgroupfs' ? `/${this.#owner}/${name}` : name;
        if (!kept.has(parent)) await this.remove(parent, layout);
      }
      if ((await foldersIn(folder)).length === 0) await removeFolder(folder);
    }
  }

  close(): void {
    this.#kernelLog.close();
  }

  #read(parent: string, layout: Layout, controller: string, file: string): Promise<string> {
    return readFile(join(this.#folder(parent, layout, controller), file), 'utf8');
  }

  /** The folder that has those of all containers in it. */
  #family(layout: Layout, controller: string): string {
    const name =
      layout.cgroupDriver === 'cgroupfs'
        ? this.#owner
        : `${this.#owner.replaceAll('-', '_')}.slice`;
    return join(this.#hierarchy(layout, controller), name);
  }

  #folder(parent: string, layout: Layout, controller: string): string {
    return layout.cgroupDriver === 'cgroupfs'
      ? join(this.#hierarchy(layout, controller), parent)
      : join(this.#family(layout, controller), parent);
  }

  #hierarchy(layout: Layout, controller: string): string {
    return layout.cgroupVersion === 2 ? this.#root : join(this.#root, controller);
  }

  /** Version 1 has a tree per controller, and the engine makes its groups in each. */
  async #everywhere(layout: Layout, folder: (controller: string) => string): Promise<string[]> {
    if (layout.cgroupVersion === 2) return [folder('')];
    return (await foldersIn(this.#root)).map(folder).filter((path) => existsSync(path));
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** A group is busy for a moment after its last process. What stays is found by the next tidying. */
async function removeFolder(folder: string): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      return await rmdir(folder);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code !== 'EBUSY') return;
      await pause(20 * 2 ** attempt);
    }
  }
}

function sumOf(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((sum, [, figure]) => sum + Number(figure), 0);
}
