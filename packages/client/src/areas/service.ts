import type { Api, CallOptions } from '../api.ts';
import type { Health, Readiness, ServerMetadata } from '../generated/api.ts';

/** The service itself. */
export class Service {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Answers while it runs. */
  health(options?: CallOptions): Promise<Health> {
    return this.#api.call('GET /health', { options });
  }

  /** Whether its store and its engine work. Fails with UnavailableError, whose `result` says which does not. */
  ready(options?: CallOptions): Promise<Readiness> {
    return this.#api.call('GET /ready', { options });
  }

  /** In the text format of Prometheus. */
  metrics(options?: CallOptions): Promise<string> {
    const call = { headers: { accept: 'text/plain' }, options };
    return this.#api.read('GET /metrics', call, (reply) => reply.text());
  }

  /** Where its OAuth endpoints are, and what they offer. */
  metadata(options?: CallOptions): Promise<ServerMetadata> {
    return this.#api.call('GET /.well-known/oauth-authorization-server', { options });
  }

  /** The OpenAPI description of everything. */
  description(options?: CallOptions): Promise<unknown> {
    return this.#api.call('GET /openapi.json', { options });
  }
}
