import type { Api, CallOptions } from '../api.ts';
import type { Worker } from '../generated/api.ts';

/** The places in which a reactor's executions run. */
export class Workers {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  list(reactorId: string, options?: CallOptions): Promise<readonly Worker[]> {
    const call = { path: { reactorId }, options };
    return this.#api.call('GET /actors/v2/{reactorId}/workers', call);
  }

  /** Keeps at least so many ready. */
  keep(reactorId: string, num: number, options?: CallOptions): Promise<readonly Worker[]> {
    const call = { path: { reactorId }, json: { num }, options };
    return this.#api.call('POST /actors/v2/{reactorId}/workers', call);
  }

  get(reactorId: string, workerId: string, options?: CallOptions): Promise<Worker> {
    const call = { path: { reactorId, workerId }, options };
    return this.#api.call('GET /actors/v2/{reactorId}/workers/{workerId}', call);
  }

  /** An idle one at once, a busy one after its execution. */
  async delete(reactorId: string, workerId: string, options?: CallOptions): Promise<void> {
    const call = { path: { reactorId, workerId }, options };
    await this.#api.call('DELETE /actors/v2/{reactorId}/workers/{workerId}', call);
  }
}
