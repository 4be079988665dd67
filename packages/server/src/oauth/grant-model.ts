import type OAuth2Server from '@node-oauth/oauth2-server';
import type { StoredCode } from './codes.ts';
import { exchangeCode, findOwnCode, refuseWrongExchange } from './grant-code.ts';
import { type GrantContext, noteIssue, requireActiveRegistrant } from './grant-context.ts';
import { askForDevice } from './grant-device.ts';
import { findOwnRefreshToken, refresh } from './grant-refresh.ts';
import { TokenRefusal } from './token-errors.ts';
import type { GrantedFlow } from './token-lifetimes.ts';
import { onlyScope, readScope } from './token-scope.ts';
import type { IssuedTokens } from './tokens.ts';

/** What is to be issued, for whom, and how. */
interface Granted {
  readonly userId: string;
  readonly grant: string;
  issue(scope: string): Promise<IssuedTokens>;
}

/** Where the library wants a value that is decided elsewhere. */
const decidedElsewhere = '-';
const never = new Date(8.64e15);

/**
 * What the grant library asks while it serves one request. One of its first questions settles what is granted; the
 * last, `saveToken`, issues it, in one commit with whatever is used up by it.
 */
export class GrantModel {
  /** What was issued. The reply is written from this, not from the library's view of it. */
  issued: IssuedTokens | undefined;
  readonly #context: GrantContext;
  readonly #grants: string[];
  #granted: Granted | undefined;
  #code: StoredCode | undefined;

  /** `grants`: the grant types that this client may use. */
  constructor(context: GrantContext, grants: string[]) {
    this.#context = context;
    this.#grants = grants;
  }

  /** The client has been authenticated before the library came in. */
  async getClient(): Promise<OAuth2Server.Client> {
    return this.#client();
  }

  async generateAccessToken(): Promise<string> {
    return decidedElsewhere;
  }

  async generateRefreshToken(): Promise<string> {
    return decidedElsewhere;
  }

  /** Access tokens are checked at the door, never by the library. */
  async getAccessToken(): Promise<undefined> {
    return undefined;
  }

  /** /authorize is not the library's either. */
  async saveAuthorizationCode(): Promise<undefined> {
    return undefined;
  }

  async validateScope(
    _user: OAuth2Server.User,
    _client: OAuth2Server.Client,
    scope?: string[],
  ): Promise<string[] | false> {
    return scope === undefined || readScope(scope) !== undefined ? [onlyScope] : false;
  }

  async saveToken(token: OAuth2Server.Token): Promise<OAuth2Server.Token> {
    const granted = this.#granted;
    const scope = readScope(token.scope ?? []);
    if (granted === undefined || scope === undefined)
      throw new Error('the library would save a token that nobody granted');
    return this.#done(granted, await granted.issue(scope));
  }

  /** Client credentials: the token acts for the one who registered the client. */
  async getUserFromClient(): Promise<OAuth2Server.User> {
    await requireActiveRegistrant(this.#context);
    return this.#grant(this.#context.client.ownerId, 'client_credentials', false);
  }

  async getUser(username: string, password: string): Promise<OAuth2Server.User> {
    const { parts, form, address } = this.#context;
    // Looked at first: a request that will be refused costs no hash and tells nothing about the password.
    if (readScope((form.get('scope') ?? '').trim().split(/ +/)) === undefined)
      throw new TokenRefusal('invalid_scope', 'The scope is needed here, and must be PRODUCTION.');
    const user = await parts.credentials.check(username, password, address);
    if (user === undefined)
      throw new TokenRefusal('invalid_grant', 'The username or the password is wrong.');
    return this.#grant(user.id, 'password', true);
  }

  async getAuthorizationCode(code: string): Promise<OAuth2Server.AuthorizationCode | undefined> {
    const stored = await findOwnCode(this.#context, code);
    if (stored === undefined) return undefined;
    this.#code = stored;
    const { userId } = stored;
    const issue = () => exchangeCode(this.#context, stored);
    this.#granted = { userId, grant: 'authorization_code', issue };
    return {
      authorizationCode: decidedElsewhere,
      // Expiry and redirect_uri are judged in the next step, where a wrong attempt uses the code up.
      expiresAt: never,
      redirectUri: '',
      client: this.#client(),
      user: { id: userId },
      scope: [stored.scope],
      ...(stored.codeChallenge !== null && {
        codeChallenge: stored.codeChallenge,
        codeChallengeMethod: 'S256',
      }),
    };
  }

  async revokeAuthorizationCode(): Promise<boolean> {
    if (this.#code === undefined) return false;
    await refuseWrongExchange(this.#context, this.#code);
    return true;
  }

  async getRefreshToken(refreshToken: string): Promise<OAuth2Server.RefreshToken | undefined> {
    const stored = await findOwnRefreshToken(this.#context, refreshToken);
    if (stored === undefined) return undefined;
    const { userId } = stored;
    const issue = (scope: string) => refresh(this.#context, refreshToken, stored, scope);
    this.#granted = { userId, grant: 'refresh_token', issue };
    return {
      refreshToken: decidedElsewhere,
      client: this.#client(),
      user: { id: userId },
      scope: [stored.scope],
    };
  }

  /** Not called: whether a refresh token is replaced is decided where it is used. */
  async revokeToken(): Promise<boolean> {
    return false;
  }

  async redeemDevice(): Promise<OAuth2Server.Token> {
    const { userId, issued } = await askForDevice(this.#context);
    return this.#done({ userId, grant: 'device', issue: async () => issued }, issued);
  }

  #grant(userId: string, flow: GrantedFlow, withRefresh: boolean): OAuth2Server.User {
    const { parts, client } = this.#context;
    const issue = (scope: string) =>
      parts.tokens.issue({ client, userId, flow, scope, refresh: withRefresh });
    this.#granted = { userId, grant: flow, issue };
    return { id: userId };
  }

  #done({ userId, grant }: Granted, issued: IssuedTokens): OAuth2Server.Token {
    this.issued = issued;
    noteIssue(this.#context, issued, { user: userId, grant });
    return { accessToken: issued.accessToken, client: this.#client(), user: { id: userId } };
  }

  #client(): OAuth2Server.Client {
    return { id: this.#context.client.id, grants: this.#grants };
  }
}
