import { Api, type CallOptions } from '../api.ts';
import { ConnectionError, OAuthError, TimeoutError, UnavailableError } from '../errors.ts';
import type { Introspection, ServerMetadata, TokenReply, TokenRequest } from '../generated/api.ts';
import { resultOf } from '../http/replies.ts';
import type { Repeating } from '../http/retries.ts';
import { Transport, type TransportOptions } from '../http/transport.ts';
import { basicHeader, type Credentials, type Presented } from './credentials.ts';
import { type DeviceCode, deviceCodeOf, pollDevice } from './device.ts';
import { challengeOf, randomText } from './pkce.ts';
import { type LoginRequest, readAnswer } from './redirects.ts';
import { isDue, memoryStore, type Token, type TokenStore, tokenOf } from './token.ts';

export interface OAuthOptions extends TransportOptions {
  /** The client key. */
  readonly clientId: string;
  /** Left out where it could not be kept secret, as in a browser. */
  readonly clientSecret?: string | undefined;
  /** Where the token is kept; in memory unless said. */
  readonly store?: TokenStore | undefined;
}

export interface DeviceOptions extends CallOptions {
  /** Shows code and address to the person; the login goes on when they have confirmed it. */
  readonly show: (code: DeviceCode) => void | Promise<void>;
}

const onlyScope = 'PRODUCTION';
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * The logins of one client application, and the token that came of one. As `auth` of a ReactordClient it renews the token
 * before it expires, and once when the service does not take it any more.
 */
export class OAuth implements Credentials {
  readonly #options: OAuthOptions;
  readonly #api: Api;
  readonly #store: TokenStore;
  #metadata: Promise<ServerMetadata> | undefined;
  #token: Token | undefined;
  #renewing: Promise<Token> | undefined;

  constructor(options: OAuthOptions) {
    this.#options = options;
    this.#api = new Api(new Transport(options));
    this.#store = options.store ?? memoryStore();
  }

  /** The authorization code flow with PKCE: where to send the person, and what to keep until they come back. */
  async authorizationRequest(
    redirectUri: string,
    options: CallOptions = {},
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
    return this.#keep(tokenOf(await this.#ask(form, options, 'unsafe')));
  }

  /** The implicit flow. `showDialog`: the person is to decide again. */
  implicitRequest(
    redirectUri: string,
    options: CallOptions & { readonly showDialog?: boolean | undefined } = {},
  ): Promise<LoginRequest> {
    const { showDialog } = options;
    const more: Readonly<Record<string, string>> =
      showDialog === undefined ? {} : { show_dialog: String(showDialog) };
    return this.#loginRequest('token', redirectUri, more, options);
  }

  /** The person has come back to this address: takes the token out of its fragment. */
  finishImplicit(returned: string | URL | URLSearchParams, request: LoginRequest): Promise<Token> {
    const answer = readAnswer(returned, request, 'fragment');
    const accessToken = answer.get('access_token');
    if (accessToken === null) throw new OAuthError('invalid_answer', 'The answer has no token.');
    const expiresIn = Number(answer.get('expires_in') ?? 3600);
    return this.#keep(
      tokenOf({ access_token: accessToken, token_type: 'bearer', expires_in: expiresIn }),
    );
  }

  async password(username: string, password: string, options: CallOptions = {}): Promise<Token> {
    const form = { grant_type: 'password', username, password, scope: onlyScope } as const;
    return this.#keep(tokenOf(await this.#ask(form, options)));
  }

  /** The client for itself: acts for the user who registered it. */
  async clientCredentials(options: CallOptions = {}): Promise<Token> {
    return this.#keep(await this.#ownToken(options));
  }

  /** The device flow: for programs without a browser. Resolves when the person has confirmed the code. */
  async device({ show, ...options }: DeviceOptions): Promise<Token> {
    const reply = await this.#api.read(
      'POST /device_authorization',
      this.#form({ scope: onlyScope }, options, 'safe'),
      resultOf,
    );
    await show(deviceCodeOf(reply));
    const form = { grant_type: deviceGrant, device_code: reply.device_code } as const;
    // A question that was lost is asked again at its time, not at once.
    const ask = () => this.#ask(form, options, 'unsafe');
    return this.#keep(tokenOf(await pollDevice(reply, ask, options.signal)));
  }

  /** The token as it is kept; undefined where nobody has logged in. */
  async token(): Promise<Token | undefined> {
    this.#token ??= await this.#store.load();
    return this.#token;
  }

  /** Gets a new access token now. */
  async refresh(): Promise<Token> {
    const token = await this.token();
    if (token === undefined) throw notLoggedIn();
    return this.#renewed(token);
  }

  /** Ends the token and all that came of its login, and forgets it. */
  async logout(options: CallOptions = {}): Promise<void> {
    const token = await this.token();
    this.#token = undefined;
    await this.#store.save(undefined);
    if (token === undefined) return;
    await this.revoke(token.refreshToken ?? token.accessToken, options);
  }

  /** Ends a token of this client. */
  async revoke(token: string, options: CallOptions = {}): Promise<void> {
    await this.#api.call('POST /revoke', this.#form({ token }, options, 'safe'));
  }

  /** What the service knows of a token of this client. */
  introspect(token: string, options: CallOptions = {}): Promise<Introspection> {
    return this.#api.call('POST /introspect', this.#form({ token }, options, 'safe'));
  }

  async present(signal?: AbortSignal): Promise<Presented> {
    let token = await this.token();
    if (token === undefined) throw notLoggedIn();
    if (isDue(token) && this.#canRenew(token)) token = await this.#renewedInTime(token, signal);
    return { authorization: `Bearer ${token.accessToken}` };
  }

  async renew(refused: Presented, signal?: AbortSignal): Promise<boolean> {
    const token = await this.token();
    if (token === undefined) return false;
    // Another request was faster.
    if (refused.authorization !== `Bearer ${token.accessToken}`) return true;
    if (!this.#canRenew(token)) return false;
    await unlessAborted(this.#renewed(token), signal);
    return true;
  }

  /** A service that does not answer now may still take the token that is not over yet. */
  async #renewedInTime(token: Token, signal?: AbortSignal): Promise<Token> {
    try {
      return await unlessAborted(this.#renewed(token), signal);
    } catch (error) {
      const isPassing =
        error instanceof ConnectionError ||
        error instanceof TimeoutError ||
        error instanceof UnavailableError;
      if (isPassing && Date.now() < token.expiresAt) return token;
      throw error;
    }
  }

  #canRenew({ refreshToken, flow }: Token): boolean {
    return refreshToken !== undefined || flow === 'client_credentials';
  }

  /** Requests that need it at the same time share one. */
  #renewed(token: Token): Promise<Token> {
    this.#renewing ??= this.#renewNow(token).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewNow(token: Token): Promise<Token> {
    // Another program may have renewed it meanwhile.
    const stored = await this.#store.load();
    if (isNewer(stored, token)) return this.#take(stored);
    const { refreshToken, flow } = token;
    if (refreshToken === undefined)
      return flow === 'client_credentials' ? this.clientCredentials() : Promise.reject(lapsed());
    try {
      const form = {
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
        scope: onlyScope,
      } as const;
      return await this.#keep(tokenOf(await this.#ask(form, {}), token));
    } catch (error) {
      const late = error instanceof OAuthError ? await this.#store.load() : undefined;
      if (isNewer(late, token)) return this.#take(late);
      throw error;
    }
  }

  async #ownToken(options: CallOptions): Promise<Token> {
    const form = { grant_type: 'client_credentials', scope: onlyScope } as const;
    return { ...tokenOf(await this.#ask(form, options)), flow: 'client_credentials' };
  }

  #take(token: Token): Token {
    this.#token = token;
    return token;
  }

  async #keep(token: Token): Promise<Token> {
    this.#token = token;
    await this.#store.save(token);
    return token;
  }

  #ask(
    form: TokenRequest,
    options: CallOptions,
    repeating: Repeating = 'safe',
  ): Promise<TokenReply> {
    return this.#api.call('POST /token', this.#form(form, options, repeating));
  }

  /** A client with a secret proves itself by Basic; one without says who it is. */
  #form(fields: object, options: CallOptions, repeating: Repeating) {
    const { clientId, clientSecret } = this.#options;
    const said = clientSecret === undefined ? { ...fields, client_id: clientId } : fields;
    const given = Object.entries(said).filter(([, value]) => value !== undefined);
    const secret = clientSecret === undefined ? undefined : encodeURIComponent(clientSecret);
    return {
      body: new URLSearchParams(given).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(secret !== undefined && {
          authorization: basicHeader(encodeURIComponent(clientId), secret),
        }),
      },
      repeating,
      options: { signal: options.signal, timeoutMs: options.timeoutMs },
    };
  }

  async #loginRequest(
    responseType: 'code' | 'token',
    redirectUri: string,
    more: Readonly<Record<string, string>>,
    { signal, timeoutMs }: CallOptions,
  ): Promise<LoginRequest> {
    this.#metadata ??= this.#api
      .call('GET /.well-known/oauth-authorization-server', { options: { signal, timeoutMs } })
      .catch((error: unknown) => {
        this.#metadata = undefined;
        throw error;
      });
    const { authorization_endpoint, issuer } = await this.#metadata;
    const state = randomText();
    const url = new URL(authorization_endpoint);
    const parameters = {
      response_type: responseType,
      client_id: this.#options.clientId,
      redirect_uri: redirectUri,
      scope: onlyScope,
      state,
      ...more,
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { url: url.href, state, redirectUri, issuer };
  }
}

const notLoggedIn = (): OAuthError =>
  new OAuthError('not_logged_in', 'There is no token yet: log in first.');
const lapsed = (): OAuthError =>
  new OAuthError('not_renewable', 'The token cannot be renewed: log in again.');

const isNewer = (stored: Token | undefined, token: Token): stored is Token =>
  stored !== undefined && stored.accessToken !== token.accessToken && !isDue(stored);

/** Leaves with the signal, and leaves the work to the others who wait for it. */
function unlessAborted<Value>(work: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
  });
}
