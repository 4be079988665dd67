import type { CallOptions } from '../api.ts';
import { OAuthError } from '../errors.ts';
import type { Introspection } from '../generated/api.ts';
import type { Credentials, Presented } from './credentials.ts';
import { type DeviceCode, deviceCodeOf, pollDevice } from './device.ts';
import { KeptToken } from './kept-token.ts';
import { challengeOf, randomText } from './pkce.ts';
import { type LoginRequest, readAnswer } from './redirects.ts';
import { memoryStore, type Token, type TokenStore, tokenOf } from './token.ts';
import { type ApplicationOptions, onlyScope, TokenEndpoint } from './token-endpoint.ts';

export interface OAuthOptions extends ApplicationOptions {
  /** Where the token is kept; in memory unless said. */
  readonly store?: TokenStore | undefined;
}

export interface LoginOptions extends CallOptions {
  /** True: the person is to decide again, also when they have said yes before. */
  readonly showDialog?: boolean | undefined;
}

export interface DeviceOptions extends CallOptions {
  /** Shows code and address to the person; the login goes on when they have confirmed it. */
  readonly show: (code: DeviceCode) => void | Promise<void>;
}

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * The logins of one client application, and the token that came of one. As `auth` of a ReactordClient it renews the token
 * before it expires, and once when the service does not take it any more.
 */
export class OAuth implements Credentials {
  readonly #clientId: string;
  readonly #endpoint: TokenEndpoint;
  readonly #kept: KeptToken;

  constructor(options: OAuthOptions) {
    this.#clientId = options.clientId;
    this.#endpoint = new TokenEndpoint(options);
    this.#kept = new KeptToken(options.store ?? memoryStore(), (token) => this.#next(token));
  }

  /** The authorization code flow with PKCE: where to send the person, and what to keep until they come back. */
  async authorizationRequest(
    redirectUri: string,
    options: LoginOptions = {},
  ): Promise<LoginRequest> {
    const codeVerifier = randomText();
    const challenge = {
      code_challenge: await challengeOf(codeVerifier),
      code_challenge_method: 'S256',
    };
    const request = await this.#loginRequest('code', redirectUri, challenge, options);
    return { ...request, codeVerifier };
  }

  /** The person has come back to this address: exchanges the code for a token. */
  async finishAuthorization(
    returned: string | URL | URLSearchParams,
    request: LoginRequest,
    options: CallOptions = {},
  ): Promise<Token> {
    const code = readAnswer(returned, request, 'query').get('code');
    if (code === null) throw new OAuthError('invalid_answer', 'The answer has no code.');
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: request.redirectUri,
      code_verifier: request.codeVerifier,
    } as const;
    // A code counts once, and whoever sends it twice loses what came of it.
    return this.#kept.keep(tokenOf(await this.#endpoint.ask(form, options, 'unsafe')));
  }

  /** The implicit flow: where to send the person, and what to keep until they come back. */
  implicitRequest(redirectUri: string, options: LoginOptions = {}): Promise<LoginRequest> {
    return this.#loginRequest('token', redirectUri, {}, options);
  }

  /** The person has come back to this address: takes the token out of its fragment. */
  async finishImplicit(
    returned: string | URL | URLSearchParams,
    request: LoginRequest,
  ): Promise<Token> {
    const answer = readAnswer(returned, request, 'fragment');
    const access_token = answer.get('access_token');
    if (access_token === null) throw new OAuthError('invalid_answer', 'The answer has no token.');
    const expires_in = Number(answer.get('expires_in') ?? 3600);
    return this.#kept.keep(tokenOf({ access_token, token_type: 'bearer', expires_in }));
  }

  async password(username: string, password: string, options: CallOptions = {}): Promise<Token> {
    const form = { grant_type: 'password', username, password, scope: onlyScope } as const;
    return this.#kept.keep(tokenOf(await this.#endpoint.ask(form, options)));
  }

  /** The client for itself: acts for the user who registered it. */
  async clientCredentials(options: CallOptions = {}): Promise<Token> {
    return this.#kept.keep(await this.#ownToken(options));
  }

  /** The device flow: for programs without a browser. Resolves when the person has confirmed the code. */
  async device({ show, ...options }: DeviceOptions): Promise<Token> {
    const reply = await this.#endpoint.deviceCode(options);
    await show(deviceCodeOf(reply));
    const form = { grant_type: deviceGrant, device_code: reply.device_code } as const;
    // A question that was lost is asked again at its time, not at once.
    const ask = () => this.#endpoint.ask(form, options, 'unsafe');
    return this.#kept.keep(tokenOf(await pollDevice(reply, ask, options.signal)));
  }

  /** The token as it is kept; undefined where nobody has logged in. */
  token(): Promise<Token | undefined> {
    return this.#kept.get();
  }

  /** Gets a new access token now. */
  refresh(): Promise<Token> {
    return this.#kept.renewNow();
  }

  /** Ends the token and all that came of its login, and forgets it. */
  async logout(options: CallOptions = {}): Promise<void> {
    const token = await this.#kept.get();
    await this.#kept.forget();
    if (token !== undefined) await this.revoke(token.refreshToken ?? token.accessToken, options);
  }

  /** Ends a token of this client. */
  revoke(token: string, options: CallOptions = {}): Promise<void> {
    return this.#endpoint.revoke(token, options);
  }

  /** What the service knows of a token of this client. */
  introspect(token: string, options: CallOptions = {}): Promise<Introspection> {
    return this.#endpoint.introspect(token, options);
  }

  present(signal?: AbortSignal): Promise<Presented> {
    return this.#kept.present(signal);
  }

  renew(refused: Presented, signal?: AbortSignal): Promise<boolean> {
    return this.#kept.renew(refused, signal);
  }

  async #next(token: Token): Promise<Token> {
    const { refreshToken } = token;
    if (refreshToken === undefined) return this.#ownToken({});
    const form = {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      scope: onlyScope,
    } as const;
    return tokenOf(await this.#endpoint.ask(form, {}), token);
  }

  async #ownToken(options: CallOptions): Promise<Token> {
    const form = { grant_type: 'client_credentials', scope: onlyScope } as const;
    return { ...tokenOf(await this.#endpoint.ask(form, options)), flow: 'client_credentials' };
  }

  async #loginRequest(
    responseType: 'code' | 'token',
    redirectUri: string,
    more: Readonly<Record<string, string>>,
    options: LoginOptions,
  ): Promise<LoginRequest> {
    const { authorization_endpoint, issuer } = await this.#endpoint.metadata(options);
    const { showDialog } = options;
    const state = randomText();
    const url = new URL(authorization_endpoint);
    const parameters = {
      response_type: responseType,
      client_id: this.#clientId,
      redirect_uri: redirectUri,
      scope: onlyScope,
      state,
      ...(showDialog !== undefined && { show_dialog: String(showDialog) }),
      ...more,
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { url: url.href, state, redirectUri, issuer };
  }
}
