import type { Flow } from '../contract/caller.ts';
import { prepared, type Statement } from '../store/statement.ts';

const of = { user: 'user_id' } as const;

const deleteSessions = prepared((db, p: { userId: string }) =>
  db.deleteFrom('sessions').where(of.user, '=', p.userId),
);
const deleteOtherSessions = prepared((db, p: { userId: string; keep: Uint8Array }) =>
  db.deleteFrom('sessions').where(of.user, '=', p.userId).where('hash', '!=', p.keep),
);
const deleteAccessTokens = prepared((db, p: { userId: string }) =>
  db.deleteFrom('access_tokens').where(of.user, '=', p.userId),
);
const deleteRefreshTokens = prepared((db, p: { userId: string }) =>
  db.deleteFrom('refresh_tokens').where(of.user, '=', p.userId),
);
const deleteCodes = prepared((db, p: { userId: string }) =>
  db.deleteFrom('authorization_codes').where(of.user, '=', p.userId),
);
const deleteDeviceCodes = prepared((db, p: { userId: string }) =>
  db.deleteFrom('device_codes').where(of.user, '=', p.userId),
);
const deleteConsents = prepared((db, p: { userId: string }) =>
  db.deleteFrom('consents').where(of.user, '=', p.userId),
);
const deleteAuthorizations = prepared((db, p: { userId: string }) =>
  db.deleteFrom('authorizations').where(of.user, '=', p.userId),
);

const deleteNonces = prepared((db, p: { userId: string }) =>
  db.deleteFrom('nonces').where('owner_id', '=', p.userId),
);
const deletePermissions = prepared((db, p: { userId: string }) =>
  db.deleteFrom('reactor_permissions').where(of.user, '=', p.userId),
);
const deleteAliasPermissions = prepared((db, p: { userId: string }) =>
  db.deleteFrom('alias_permissions').where(of.user, '=', p.userId),
);

/** Tokens that came of a client's secret or of an execution, not of the user's password. */
const withoutPassword: readonly Flow[] = ['client_credentials', 'execution'];
const deleteLoginTokens = prepared((db, p: { userId: string }) =>
  db
    .deleteFrom('access_tokens')
    .where(of.user, '=', p.userId)
    .where('flow', 'not in', withoutPassword),
);
const deleteLoginAuthorizations = prepared((db, p: { userId: string }) =>
  db
    .deleteFrom('authorizations')
    .where(of.user, '=', p.userId)
    .where('flow', 'not in', withoutPassword),
);

/** Ends everything by which the user, or a client for it, gets in, and what others share with it. What it owns stays. */
export function endAllAccess(userId: string): readonly Statement[] {
  return [
    deleteSessions({ userId }),
    deleteCodes({ userId }),
    deleteDeviceCodes({ userId }),
    deleteAccessTokens({ userId }),
    deleteRefreshTokens({ userId }),
    deleteConsents({ userId }),
    deleteNonces({ userId }),
    deletePermissions({ userId }),
    deleteAliasPermissions({ userId }),
    deleteAuthorizations({ userId }),
  ];
}

/**
 * Ends everything that was had with the old password: sessions (but the one in which it was changed), codes, and
 * the tokens of logins with all that can be refreshed. Consents stay: they are decisions, and let nobody in.
 */
export function endLogins(userId: string, keep?: Uint8Array): readonly Statement[] {
  return [
    keep === undefined ? deleteSessions({ userId }) : deleteOtherSessions({ userId, keep }),
    deleteCodes({ userId }),
    deleteDeviceCodes({ userId }),
    deleteLoginTokens({ userId }),
    deleteRefreshTokens({ userId }),
    deleteLoginAuthorizations({ userId }),
  ];
}
