import { setTimeout as pause } from 'node:timers/promises';
import { type ContainerSummary, ImageGone } from '../engine.ts';
import type { DockerClient } from './docker-client.ts';
import { DockerRefusal, isRefusal, onContainer, refused } from './failures.ts';
import { type Labels, labelFilter } from './labels.ts';
import { Created, Inspection, Listed, read } from './shapes.ts';

/** The engine's containers, one call each. */
export class Containers {
  readonly #client: DockerClient;

  constructor(client: DockerClient) {
    this.#client = client;
  }

  async create(
    name: string,
    image: string,
    config: object,
  ): Promise<{ id: string; adopted: boolean }> {
    try {
      const answer = await this.#client.call('POST', '/containers/create', {
        query: { name },
        body: config,
      });
      return { id: read(Created, answer, 'a new container').Id, adopted: false };
    } catch (error) {
      // Podman says it with another status.
      if (isRefusal(error, 409, 500) && /in use/.test(error.message)) {
        const existing = await this.find(name);
        if (existing !== undefined) return { id: existing.Id, adopted: true };
      }
      if (isRefusal(error, 404) && /no such image|image not known/i.test(error.message))
        throw new ImageGone(image);
      throw error;
    }
  }

  async find(idOrName: string): Promise<Inspection | undefined> {
    try {
      const answer = await this.#client.call('GET', `/containers/${idOrName}/json`);
      return read(Inspection, answer, 'a container');
    } catch (error) {
      if (isRefusal(error, 404)) return undefined;
      throw error instanceof DockerRefusal ? refused(error, 'tell of a container') : error;
    }
  }

  /** Starts it; a failure is the engine's own. */
  async start(id: string): Promise<void> {
    await this.#client.call('POST', `/containers/${id}/start`, { isOnce: true, limitMs: 120_000 });
  }

  async stop(id: string, graceSeconds: number): Promise<void> {
    const seconds = Math.max(0, Math.ceil(graceSeconds));
    await this.#ignoringGone(id, 'stop a container', () =>
      this.#client.call('POST', `/containers/${id}/stop`, {
        query: { t: seconds },
        limitMs: (seconds + 60) * 1000,
      }),
    );
  }

  async remove(id: string): Promise<void> {
    for (;;) {
      try {
        return await this.#ignoringGone(id, 'remove a container', () =>
          this.#client
            .call('DELETE', `/containers/${id}`, { query: { force: true, v: true } })
            .catch((error: unknown) => {
              if (isRefusal(error, 409) && /already in progress/i.test(error.message))
                throw new RemovalUnderWay();
              throw error;
            }),
        );
      } catch (error) {
        if (!(error instanceof RemovalUnderWay)) throw error;
        if ((await this.find(id)) === undefined) return;
        await pause(50);
      }
    }
  }

  async list(labels: Labels): Promise<readonly ContainerSummary[]> {
    try {
      const answer = await this.#client.call('GET', '/containers/json', {
        query: { all: true, filters: labelFilter(labels) },
      });
      return read(Listed, answer, 'containers').map((one) => ({
        id: one.Id,
        name: (one.Names?.[0] ?? '').replace(/^\//, ''),
        labels: one.Labels ?? {},
        state: stateOf(one.State),
        createdAt: one.Created * 1000,
      }));
    } catch (error) {
      throw error instanceof DockerRefusal ? refused(error, 'list containers') : error;
    }
  }

  async #ignoringGone(id: string, what: string, act: () => Promise<unknown>): Promise<void> {
    await onContainer(id, what, async () => {
      try {
        await act();
      } catch (error) {
        if (!isRefusal(error, 404)) throw error;
      }
    });
  }
}

class RemovalUnderWay extends Error {}

function stateOf(state: string): ContainerSummary['state'] {
  if (state === 'created' || state === 'configured' || state === 'initialized') return 'created';
  return state === 'exited' || state === 'dead' || state === 'removing' || state === 'stopped'
    ? 'ended'
    : 'running';
}
