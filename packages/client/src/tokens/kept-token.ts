import { ConnectionError, OAuthError, TimeoutError, UnavailableError } from '../errors.ts';
import type { Credentials, Presented } from './credentials.ts';
import { isDue, type Token, type TokenStore } from './token.ts';

/** The token of a login, kept in a store and kept fresh. `next`: gets the one that follows it. */
export class KeptToken implements Credentials {
  readonly #store: TokenStore;
  readonly #next: (token: Token) => Promise<Token>;
  #token: Token | undefined;
  #renewing: Promise<Token> | undefined;

  constructor(store: TokenStore, next: (token: Token) => Promise<Token>) {
    this.#store = store;
    this.#next = next;
  }

  async get(): Promise<Token | undefined> {
    this.#token ??= await this.#store.load();
    return this.#token;
  }

  async keep(token: Token): Promise<Token> {
    this.#token = token;
    await this.#store.save(token);
    return token;
  }

  async forget(): Promise<void> {
    this.#token = undefined;
    await this.#store.save(undefined);
  }

  async present(signal?: AbortSignal): Promise<Presented> {
    const token = await this.#needed();
    const current = isDue(token) && canRenew(token) ? await this.#inTime(token, signal) : token;
    return { authorization: `Bearer ${current.accessToken}` };
  }

  async renew(refused: Presented, signal?: AbortSignal): Promise<boolean> {
    const token = await this.#needed();
    // Another request was faster.
    if (refused.authorization !== `Bearer ${token.accessToken}`) return true;
    if (!canRenew(token)) return false;
    await unlessAborted(this.#renewed(token), signal);
    return true;
  }

  async renewNow(): Promise<Token> {
    return this.#renewed(await this.#needed());
  }

  async #needed(): Promise<Token> {
    const token = await this.get();
    if (token !== undefined) return token;
    throw new OAuthError('not_logged_in', 'There is no token yet: log in first.');
  }

  /** A service that does not answer now may still take the token that is not over yet. */
  async #inTime(token: Token, signal?: AbortSignal): Promise<Token> {
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

  /** Requests that need it at the same time share one. */
  #renewed(token: Token): Promise<Token> {
    const work = () => this.#replace(token);
    this.#renewing ??= (this.#store.exclusively?.(work) ?? work()).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #replace(token: Token): Promise<Token> {
    if (!canRenew(token))
      throw new OAuthError('not_renewable', 'The token cannot be renewed: log in again.');
    // Another program may have renewed it meanwhile.
    const stored = await this.#store.load();
    if (isNewer(stored, token)) return this.#take(stored);
    try {
      return await this.keep(await this.#next(token));
    } catch (error) {
      const late = error instanceof OAuthError ? await this.#store.load() : undefined;
      if (isNewer(late, token)) return this.#take(late);
      throw error;
    }
  }

  #take(token: Token): Token {
    this.#token = token;
    return token;
  }
}

const canRenew = ({ refreshToken, flow }: Token): boolean =>
  refreshToken !== undefined || flow === 'client_credentials';

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
