import { executionContext } from '../secrets/reseal.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import { prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';

const insertSecrets = prepared(
  (db, p: { executionId: string; sealed: Uint8Array; keyId: string }) =>
    db
      .insertInto('execution_secrets')
      .values({ execution_id: p.executionId, sealed: p.sealed, key_id: p.keyId })
      .onConflict((conflict) =>
        conflict.column('execution_id').doUpdateSet((eb) => ({
          sealed: eb.ref('excluded.sealed'),
          key_id: eb.ref('excluded.key_id'),
        })),
      ),
);

const deleteSecrets = prepared((db, p: { executionId: string }) =>
  db.deleteFrom('execution_secrets').where('execution_id', '=', p.executionId),
);

/**
 * What must not be seen in the log of an execution that runs, kept until its end: a service that comes back reads the
 * output again, and by then the secrets may have been changed or taken away.
 */
export class RunSecrets {
  readonly #store: Store;
  readonly #box: SecretBox;

  constructor(store: Store, box: SecretBox) {
    this.#store = store;
    this.#box = box;
  }

  /** Before the container starts. Costs nothing where there is no secret. */
  async keep(executionId: string, secrets: readonly string[]): Promise<void> {
    if (secrets.length === 0) return;
    const text = JSON.stringify(secrets);
    const { sealed, keyId } = this.#box.seal(text, executionContext(executionId));
    await this.#store.write(insertSecrets({ executionId, sealed, keyId }));
  }

  /** Throws `key_missing`. */
  async recall(executionId: string): Promise<readonly string[]> {
    const row = await this.#store.read
      .selectFrom('execution_secrets')
      .select(['sealed', 'key_id as keyId'])
      .where('execution_id', '=', executionId)
      .executeTakeFirst();
    if (row === undefined) return [];
    const what = `What the log of execution ${executionId} must not show`;
    const secrets: unknown = JSON.parse(this.#box.open(row, executionContext(executionId), what));
    return Array.isArray(secrets) ? secrets.map(String) : [];
  }

  /** The execution has ended. Should this fail, it goes with the record. */
  async forget(executionId: string, secrets: readonly string[]): Promise<void> {
    if (secrets.length > 0) await this.#store.write(deleteSecrets({ executionId }));
  }
}
