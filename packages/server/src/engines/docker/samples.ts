import type { Usage } from '../engine.ts';
import type { DockerClient } from './docker-client.ts';
import { jsonLines } from './json-lines.ts';
import { networkBytes } from './network-counters.ts';
import { read, Statistics } from './shapes.ts';

export interface Sample {
  cpu: number;
  networkBytes: number;
  blockBytes: number;
}

/**
 * The figures that the engine tells about once a second while a container runs: for containers whose exact ones cannot
 * be read, because the engine is on another machine or this process may not read the kernel's. What happens after the
 * last sample is not in them.
 */
export class Samples {
  readonly #client: DockerClient;
  readonly #samples = new Map<string, Sample>();
  readonly #open = new Map<string, AbortController>();

  constructor(client: DockerClient) {
    this.#client = client;
  }

  /** Takes samples until the container ends. */
  begin(id: string): void {
    if (this.#open.has(id)) return;
    const stop = new AbortController();
    this.#open.set(id, stop);
    void this.#take(id, stop.signal).catch(() => {});
  }

  last(id: string): Sample | undefined {
    return this.#samples.get(id);
  }

  forget(id: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
    this.#samples.delete(id);
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.forget(id);
  }

  async #take(id: string, signal: AbortSignal): Promise<void> {
    const response = await this.#client.open('GET', `/containers/${id}/stats`, {
      query: { stream: true },
      signal,
    });
    for await (const value of jsonLines(response)) {
      const figures = read(Statistics, value, 'statistics');
      const last = this.#samples.get(id) ?? { cpu: 0, networkBytes: 0, blockBytes: 0 };
      // Counters never go back; the engine's last word on a container that has ended is all zeros.
      this.#samples.set(id, {
        cpu: Math.max(last.cpu, figures.cpu_stats?.cpu_usage?.total_usage ?? 0),
        networkBytes: Math.max(last.networkBytes, networkBytes(figures)),
        blockBytes: Math.max(last.blockBytes, blockBytes(figures)),
      });
    }
  }
}

function blockBytes({ blkio_stats }: Statistics): number {
  return (blkio_stats?.io_service_bytes_recursive ?? [])
    .filter(({ op }) => /^(read|write)$/i.test(op))
    .reduce((sum, { value }) => sum + value, 0);
}

/** What a sample amounts to on its own. */
export function usageOf(sample: Sample): Usage {
  return { cpu: sample.cpu, io: sample.networkBytes + sample.blockBytes, exact: false };
}
