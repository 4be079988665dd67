import type { Session } from '../identity/sessions.ts';
import { newId } from '../ids.ts';
import { expectRows, prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows } from '../store/store-errors.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { Clients } from './clients.ts';

/** A request that waits for login and consent. Forms carry its id and nothing else of it. */
export interface WaitingRequest extends AuthorizationRequest {
  readonly id: string;
  readonly createdAt: number;
}

/** Enough to find a password; too short for a page that was forgotten in a tab. */
const lifetimeMs = 600_000;

const insertRequest = prepared(
  (
    db,
    p: {
      id: string;
      session: Uint8Array;
      clientId: string;
      responseType: string;
      redirectUri: string;
      scope: string;
      state: string | null;
      codeChallenge: string | null;
      showDialog: number;
      now: number;
      expiresAt: number;
    },
  ) =>
    db.insertInto('authorization_requests').values({
      id: p.id,
      session_hash: p.session,
      client_id: p.clientId,
      response_type: p.responseType,
      redirect_uri: p.redirectUri,
      scope: p.scope,
      state: p.state,
      code_challenge: p.codeChallenge,
      show_dialog: p.showDialog,
      created_at: p.now,
      expires_at: p.expiresAt,
    }),
);

const deleteExpired = prepared((db, p: { now: number }) =>
  db.deleteFrom('authorization_requests').where('expires_at', '<=', p.now),
);

/** Meets the row once, however often a button is pressed. */
const takeRequest = prepared((db, p: { id: string; session: Uint8Array; now: number }) =>
  db
    .deleteFrom('authorization_requests')
    .where('id', '=', p.id)
    .where('session_hash', '=', p.session)
    .where('expires_at', '>', p.now),
);

const moveRequest = prepared((db, p: { from: Uint8Array; to: Uint8Array }) =>
  db
    .updateTable('authorization_requests')
    .set({ session_hash: p.to })
    .where('session_hash', '=', p.from),
);

/** The requests that wait for a person, each in the session of the browser that brought it. */
export class AuthorizationRequests {
  readonly #store: Store;
  readonly #clients: Pick<Clients, 'byId'>;

  constructor(store: Store, clients: Pick<Clients, 'byId'>) {
    this.#store = store;
    this.#clients = clients;
  }

  /** Keeps the request and returns the id under which the session finds it again. */
  async keep(session: Session, request: AuthorizationRequest): Promise<string> {
    const id = newId();
    const now = Date.now();
    await this.#store.write(
      deleteExpired({ now }),
      insertRequest({
        id,
        session: session.hash,
        clientId: request.client.id,
        responseType: request.responseType,
        redirectUri: request.redirectUri,
        scope: request.scope,
        // Percent-encoded: a state may be any text, and PostgreSQL's holds no NUL.
        state: request.state === undefined ? null : encodeURIComponent(request.state),
        codeChallenge: request.codeChallenge,
        showDialog: request.showDialog ? 1 : 0,
        now,
        expiresAt: now + lifetimeMs,
      }),
    );
    return id;
  }

  /** Undefined: answered, expired, of another session, or of a client that has changed since. */
  async find(id: string, session: Session): Promise<WaitingRequest | undefined> {
    const row = await this.#store.read
      .selectFrom('authorization_requests')
      .selectAll()
      .where('id', '=', id)
      .where('session_hash', '=', session.hash)
      .where('expires_at', '>', Date.now())
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const client = await this.#clients.byId(row.client_id);
    if (client === undefined || client.updatedAt > row.created_at) return undefined;
    return {
      id,
      client,
      responseType: row.response_type === 'token' ? 'token' : 'code',
      redirectUri: row.redirect_uri,
      scope: row.scope,
      state: row.state === null ? undefined : decodeURIComponent(row.state),
      codeChallenge: row.code_challenge,
      showDialog: row.show_dialog === 1,
      createdAt: row.created_at,
    };
  }

  /** Ends the wait and commits `unit` with it. False: it has ended before, and nothing was done. */
  async take(id: string, session: Session, ...unit: readonly Statement[]): Promise<boolean> {
    const take = takeRequest({ id, session: session.hash, now: Date.now() });
    try {
      await this.#store.write(expectRows(take, 1), ...unit);
      return true;
    } catch (error) {
      if (error instanceof UnexpectedRows) return false;
      throw error;
    }
  }

  /** What waits in one session waits in the other from now on: its person logs out to log in as somebody else. */
  async move(from: Session, to: Session): Promise<void> {
    await this.#store.write(moveRequest({ from: from.hash, to: to.hash }));
  }
}
