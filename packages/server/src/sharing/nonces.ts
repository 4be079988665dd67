import type { Selectable } from 'kysely';
import type { Caller, NonceUse } from '../contract/caller.ts';
import type { Page } from '../contract/page.ts';
import type { PermissionLevel } from '../contract/permission-level.ts';
import { fail, type ServiceError } from '../errors.ts';
import { hashSecret, looksLike, newSecret } from '../oauth/secret-format.ts';
import { nonceContext } from '../secrets/reseal.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { NoncesTable } from '../store/sharing-tables.ts';
import { expectRows, once, prepared } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { ForeignKeyViolation, UnexpectedRows } from '../store/store-errors.ts';

/** What a nonce opens: a reactor under every name, or whatever an alias leads to, under that alias. */
export type NonceSubject = { readonly reactorId: string } | { readonly alias: string };

export interface Nonce {
  /** The secret itself; null when it was encrypted with a key that is not there any more. */
  readonly id: string | null;
  readonly reactorId: string | null;
  readonly alias: string | null;
  readonly ownerUsername: string;
  readonly roles: readonly string[];
  readonly level: PermissionLevel;
  readonly maxUses: number;
  readonly currentUses: number;
  readonly description: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface NewNonce {
  readonly subject: NonceSubject;
  readonly level: PermissionLevel;
  readonly maxUses: number;
  readonly description: string;
}

/** In one statement, so that of many requests at once only as many get through as there are uses left. */
const useNonce = prepared((db, p: { hash: Uint8Array; now: number }) =>
  db
    .updateTable('nonces')
    .set((eb) => ({ current_uses: eb('current_uses', '+', 1), last_used_at: p.now }))
    .where('hash', '=', p.hash)
    .where((eb) => eb.or([eb('max_uses', '<', 0), eb('current_uses', '<', eb.ref('max_uses'))])),
);

const deleteNonce = prepared((db, p: { hash: Uint8Array }) =>
  db.deleteFrom('nonces').where('hash', '=', p.hash),
);

/** Secrets that act for their owners, each on one reactor. Found by their hash; shown again out of the box. */
export class Nonces {
  readonly #store: Store;
  readonly #box: SecretBox;

  constructor(store: Store, box: SecretBox) {
    this.#store = store;
    this.#box = box;
  }

  async create(caller: Caller, { subject, level, maxUses, description }: NewNonce): Promise<Nonce> {
    const id = newSecret('nonce');
    const hash = hashSecret(id);
    const { sealed, keyId } = this.#box.seal(id, nonceContext(hash));
    const insert = once((db) =>
      db.insertInto('nonces').values({
        hash,
        sealed,
        key_id: keyId,
        reactor_id: 'reactorId' in subject ? subject.reactorId : null,
        alias: 'alias' in subject ? subject.alias : null,
        owner_id: caller.userId,
        client_id: clientOf(caller),
        level,
        max_uses: maxUses,
        description,
        created_at: Date.now(),
      }),
    );
    try {
      await this.#store.write(insert);
    } catch (error) {
      if (error instanceof ForeignKeyViolation)
        throw fail('conflict', {
          problem: 'What the nonce was to open has been deleted meanwhile.',
        });
      throw error;
    }
    return this.find(subject, id);
  }

  /** Newest first. `ownerId`: only those of this user. */
  async list(
    subject: NonceSubject,
    ownerId: string | undefined,
    { limit, offset }: Page,
  ): Promise<readonly Nonce[]> {
    let query = this.#of(subject)
      .orderBy('nonces.created_at', 'desc')
      .orderBy('nonces.hash')
      .limit(limit)
      .offset(offset);
    if (ownerId !== undefined) query = query.where('nonces.owner_id', '=', ownerId);
    return (await query.execute()).map((row) => this.#shown(row));
  }

  async find(subject: NonceSubject, id: string, ownerId?: string): Promise<Nonce> {
    const hash = readId(id);
    let query = this.#of(subject).where('nonces.hash', '=', hash);
    if (ownerId !== undefined) query = query.where('nonces.owner_id', '=', ownerId);
    const row = await query.executeTakeFirst();
    if (row === undefined) throw unknownNonce(id);
    return this.#shown(row);
  }

  async remove(subject: NonceSubject, id: string): Promise<void> {
    await this.find(subject, id);
    const [{ affected }] = await this.#store.write(deleteNonce({ hash: readId(id) }));
    if (affected === 0) throw unknownNonce(id);
  }

  /** Whom a nonce in a request acts for, and what it opens; undefined when there is no such nonce, or no use left. */
  async atDoor(id: string): Promise<{ ownerId: string; use: NonceUse } | undefined> {
    if (!looksLike('nonce', id)) return undefined;
    const hash = hashSecret(id);
    const row = await this.#store.read
      .selectFrom('nonces')
      .select(['reactor_id', 'alias', 'owner_id', 'client_id', 'level', 'max_uses', 'current_uses'])
      .where('hash', '=', hash)
      .executeTakeFirst();
    if (row === undefined || (row.max_uses >= 0 && row.current_uses >= row.max_uses))
      return undefined;
    let used: Promise<void> | undefined;
    const use: NonceUse = {
      kind: 'nonce',
      alias: row.alias ?? undefined,
      reactorId: row.reactor_id ?? undefined,
      level: row.level,
      clientId: row.client_id,
      // One request is one use, however often its operation asks.
      use: () => (used ??= this.#use(hash)),
    };
    return { ownerId: row.owner_id, use };
  }

  /** Whether it has not been deleted; one that is used up is there all the same. */
  async isThere(id: string): Promise<boolean> {
    const row = await this.#store.read
      .selectFrom('nonces')
      .select('hash')
      .where('hash', '=', hashSecret(id))
      .executeTakeFirst();
    return row !== undefined;
  }

  async #use(hash: Uint8Array): Promise<void> {
    try {
      await this.#store.write(expectRows(useNonce({ hash, now: Date.now() }), 1));
    } catch (error) {
      if (error instanceof UnexpectedRows) throw invalidNonce();
      throw error;
    }
  }

  #of(subject: NonceSubject) {
    const query = this.#store.read
      .selectFrom('nonces')
      .innerJoin('users', 'users.id', 'nonces.owner_id')
      .selectAll('nonces')
      .select(['users.username', 'users.roles']);
    return 'alias' in subject
      ? query.where('nonces.alias', '=', subject.alias)
      : query.where('nonces.reactor_id', '=', subject.reactorId);
  }

  #shown(row: NonceRow): Nonce {
    const { sealed, key_id: keyId } = row;
    return {
      id: this.#box.knows(keyId)
        ? this.#box.open({ sealed, keyId }, nonceContext(row.hash), 'The nonce')
        : null,
      reactorId: row.reactor_id,
      alias: row.alias,
      ownerUsername: row.username,
      roles: readRoles(row.roles),
      level: row.level,
      maxUses: row.max_uses,
      currentUses: row.current_uses,
      description: row.description,
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
    };
  }
}

type NonceRow = Selectable<NoncesTable> & { readonly username: string; readonly roles: string };

function readRoles(json: string): readonly string[] {
  const roles: unknown = JSON.parse(json);
  return Array.isArray(roles) ? roles.map(String) : [];
}

export const invalidNonce = (): ServiceError =>
  fail('invalid_credentials', {
    problem: 'The nonce is unknown, has been used up or was deleted. Ask its owner for a new one.',
  });

function readId(id: string): Uint8Array {
  if (!looksLike('nonce', id)) throw unknownNonce(id);
  return hashSecret(id);
}

/** Enough of it to know which one is meant, and too little to use it. */
const unknownNonce = (id: string): ServiceError =>
  fail('unknown_resource', { kind: 'nonce', name: `${id.slice(0, 12)}…` });

const clientOf = ({ by }: Caller): string | null =>
  by.kind === 'token' && by.clientId !== '' ? by.clientId : null;
