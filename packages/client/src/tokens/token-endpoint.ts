import { Api, type CallOptions } from '../api.ts';
import type {
  DeviceReply,
  Introspection,
  ServerMetadata,
  TokenReply,
  TokenRequest,
} from '../generated/api.ts';
import type { Repeating } from '../http/retries.ts';
import { Transport, type TransportOptions } from '../http/transport.ts';
import { basicHeader } from './credentials.ts';

export interface ApplicationOptions extends TransportOptions {
  /** The client key. */
  readonly clientId: string;
  /** Left out where it could not be kept secret, as in a browser. */
  readonly clientSecret?: string | undefined;
}

export const onlyScope = 'PRODUCTION';

/** The OAuth endpoints, as one client application calls them. */
export class TokenEndpoint {
  readonly #options: ApplicationOptions;
  readonly #api: Api;
  #metadata: Promise<ServerMetadata> | undefined;

  constructor(options: ApplicationOptions) {
    this.#options = options;
    this.#api = new Api(new Transport(options));
  }

  ask(
    form: TokenRequest,
    options: CallOptions,
    repeating: Repeating = 'safe',
  ): Promise<TokenReply> {
    return this.#api.call('POST /token', this.#form(form, options, repeating));
  }

  deviceCode(options: CallOptions): Promise<DeviceReply> {
    return this.#api.call('POST /device_authorization', this.#form({ scope: onlyScope }, options));
  }

  async revoke(token: string, options: CallOptions): Promise<void> {
    await this.#api.call('POST /revoke', this.#form({ token }, options));
  }

  introspect(token: string, options: CallOptions): Promise<Introspection> {
    return this.#api.call('POST /introspect', this.#form({ token }, options));
  }

  /** What the service says of itself; asked once. */
  metadata(options: CallOptions): Promise<ServerMetadata> {
    const call = { options: callOnly(options) };
    this.#metadata ??= this.#api
      .call('GET /.well-known/oauth-authorization-server', call)
      .catch((error: unknown) => {
        this.#metadata = undefined;
        throw error;
      });
    return this.#metadata;
  }

  /** A client with a secret proves itself by Basic; one without says who it is. */
  #form(fields: object, options: CallOptions, repeating: Repeating = 'safe') {
    const { clientId, clientSecret } = this.#options;
    const said = clientSecret === undefined ? { ...fields, client_id: clientId } : fields;
    const given = Object.entries(said).filter(([, value]) => value !== undefined);
    const authorization =
      clientSecret === undefined
        ? undefined
        : basicHeader(encodeURIComponent(clientId), encodeURIComponent(clientSecret));
    return {
      body: new URLSearchParams(given).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(authorization !== undefined && { authorization }),
      },
      repeating,
      options: callOnly(options),
    };
  }
}

/** Methods hand on options of their own too. */
const callOnly = ({ signal, timeoutMs }: CallOptions): CallOptions => ({ signal, timeoutMs });
