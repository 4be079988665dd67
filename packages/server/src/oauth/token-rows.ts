import { prepared } from '../store/statement.ts';

/** The statements that put tokens into the store, for units that do more than that alone. */
export const insertAccessToken = prepared(
  (
    db,
    p: {
      hash: Uint8Array;
      authorizationId: string | null;
      clientId: string | null;
      userId: string;
      flow: string;
      scope: string;
      now: number;
      expiresAt: number;
    },
  ) =>
    db.insertInto('access_tokens').values({
      hash: p.hash,
      authorization_id: p.authorizationId,
      client_id: p.clientId,
      user_id: p.userId,
      flow: p.flow,
      scope: p.scope,
      issued_at: p.now,
      expires_at: p.expiresAt,
    }),
);

export const insertAuthorization = prepared(
  (
    db,
    p: { id: string; clientId: string; userId: string; flow: string; scope: string; now: number },
  ) =>
    db.insertInto('authorizations').values({
      id: p.id,
      client_id: p.clientId,
      user_id: p.userId,
      flow: p.flow,
      scope: p.scope,
      created_at: p.now,
    }),
);

export const insertRefreshToken = prepared(
  (
    db,
    p: {
      hash: Uint8Array;
      authorizationId: string;
      clientId: string;
      userId: string;
      scope: string;
      now: number;
      expiresAt: number | null;
    },
  ) =>
    db.insertInto('refresh_tokens').values({
      hash: p.hash,
      authorization_id: p.authorizationId,
      client_id: p.clientId,
      user_id: p.userId,
      scope: p.scope,
      issued_at: p.now,
      last_used_at: p.now,
      expires_at: p.expiresAt,
    }),
);

/** Everything issued for it goes with it. */
export const deleteAuthorization = prepared((db, p: { id: string }) =>
  db.deleteFrom('authorizations').where('id', '=', p.id),
);
