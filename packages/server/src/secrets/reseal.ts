import { once } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import type { SecretBox } from './secret-box.ts';

interface Parts {
  readonly store: Store;
  readonly box: SecretBox;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

/** What the sealed bytes of a row belong to. */
export const configContext = (id: string): string => `config ${id}`;
export const executionContext = (id: string): string => `execution ${id}`;
export const nonceContext = (hash: Uint8Array): string =>
  `nonce ${Buffer.from(hash).toString('hex')}`;

const atOnce = 100;

/**
 * Encrypts anew what is encrypted with a key that the operator has replaced, and says which keys are missing. Each row
 * is changed only if it is still what was read: several processes may be at it.
 */
export async function reseal({ store, box, log }: Parts): Promise<void> {
  const counts = { renewed: 0 };
  for (const keyId of await keysInUse(store)) {
    if (keyId === box.keyId) continue;
    if (!box.knows(keyId)) {
      log.warn(
        { key: keyId },
        'secrets in the store are encrypted with a key that this service does not have; set it in secrets_key or secrets_old_keys',
      );
      continue;
    }
    while ((await renewConfigs(store, box, keyId, counts)) === atOnce);
    while ((await renewNonces(store, box, keyId, counts)) === atOnce);
  }
  if (counts.renewed > 0)
    log.info({ secrets: counts.renewed }, 'secrets encrypted with the new key');
}

async function keysInUse({ read }: Store): Promise<readonly string[]> {
  const [configs, nonces] = await Promise.all([
    read.selectFrom('configs').select('key_id').distinct().execute(),
    read.selectFrom('nonces').select('key_id').distinct().execute(),
  ]);
  const ids = [...configs, ...nonces].flatMap(({ key_id }) => key_id ?? []);
  return [...new Set(ids)];
}

async function renewConfigs(
  store: Store,
  box: SecretBox,
  keyId: string,
  counts: { renewed: number },
): Promise<number> {
  const rows = await store.read
    .selectFrom('configs')
    .select(['id', 'sealed'])
    .where('key_id', '=', keyId)
    .where('sealed', 'is not', null)
    .limit(atOnce)
    .execute();
  for (const { id, sealed } of rows) {
    if (sealed === null) continue;
    const context = configContext(id);
    const renewed = box.seal(box.open({ sealed, keyId }, context, 'A secret'), context);
    await store.write(
      once((db) =>
        db
          .updateTable('configs')
          .set({ sealed: renewed.sealed, key_id: renewed.keyId })
          .where('id', '=', id)
          .where('sealed', '=', sealed),
      ),
    );
    counts.renewed += 1;
  }
  return rows.length;
}

async function renewNonces(
  store: Store,
  box: SecretBox,
  keyId: string,
  counts: { renewed: number },
): Promise<number> {
  const rows = await store.read
    .selectFrom('nonces')
    .select(['hash', 'sealed'])
    .where('key_id', '=', keyId)
    .limit(atOnce)
    .execute();
  for (const { hash, sealed } of rows) {
    const context = nonceContext(hash);
    const renewed = box.seal(box.open({ sealed, keyId }, context, 'A nonce'), context);
    await store.write(
      once((db) =>
        db
          .updateTable('nonces')
          .set({ sealed: renewed.sealed, key_id: renewed.keyId })
          .where('hash', '=', hash),
      ),
    );
    counts.renewed += 1;
  }
  return rows.length;
}
