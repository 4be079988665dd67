import { serviceUser } from '../identity/service-user.ts';
import { prepared, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { Catalogue } from './apis.ts';
import { type ClientFlow, commandLineKey } from './client.ts';
import { insertSubscription } from './client-rows.ts';

/** What the command line asks with: a device's code, or where there is no browser at all, the password. */
const flows: readonly ClientFlow[] = ['device', 'password'];
const id = commandLineKey;

const insertServiceUser = prepared((db, p: { now: number }) =>
  db
    .insertInto('users')
    .values({
      id: serviceUser.id,
      uid: serviceUser.uid,
      username: serviceUser.username,
      password_hash: '',
      status: 'disabled',
      password_changed_at: p.now,
      created_at: p.now,
      updated_at: p.now,
    })
    .onConflict((conflict) => conflict.doNothing()),
);

const insertCommandLine = prepared((db, p: { now: number; noSecret: Uint8Array; flows: string }) =>
  db
    .insertInto('clients')
    .values({
      id,
      owner_id: serviceUser.id,
      name: 'reactord command line',
      description: 'The program "reactord", in a terminal of yours.',
      key: commandLineKey,
      secret_hash: p.noSecret,
      tier: 'Unlimited',
      flows: p.flows,
      created_at: p.now,
      updated_at: p.now,
    })
    .onConflict((conflict) => conflict.doNothing()),
);

/**
 * Sees to it that the command line can log in to a service on which nobody has registered anything: its client belongs
 * to the service, and to every API that there is, those of later versions too.
 */
export async function provideCommandLineClient(store: Store, apis: Catalogue): Promise<void> {
  const rows = await store.read
    .selectFrom('subscriptions')
    .select('api')
    .where('client_id', '=', id)
    .execute();
  const known = new Set(rows.map(({ api }) => api));
  const missing = apis.filter(({ name }) => !known.has(name));
  if (missing.length === 0) return;
  const now = Date.now();
  const unit: Statement[] = [
    insertServiceUser({ now }),
    insertCommandLine({ now, noSecret: new Uint8Array(), flows: JSON.stringify(flows) }),
    ...missing.map(({ name }) => insertSubscription({ clientId: id, api: name, now })),
  ];
  await store.write(...unit);
}
