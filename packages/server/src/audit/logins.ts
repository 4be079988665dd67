import type { Identity } from '../identity/identity.ts';
import type { Audit } from './audit.ts';

/** Notes who logged in and who failed to. A name is kept only where it is a user's: people type passwords there, too. */
export function noteLogins(
  audit: Pick<Audit, 'note'>,
  { credentials, users }: Pick<Identity, 'credentials' | 'users'>,
): void {
  credentials.onAttempt(async ({ user, username, address }) => {
    const known = user ?? (await users.byUsername(username).catch(() => undefined));
    await audit.note({
      userId: known?.id ?? null,
      username: known?.username ?? '',
      client: '',
      address,
      action: user === undefined ? 'Login failed' : 'Login',
      method: '',
      resource: '/login',
      status: user === undefined ? 401 : 200,
      requestId: '',
    });
  });
}
