import { type ExpressionBuilder, sql } from 'kysely';
import { currentNumber } from '../store/counters.ts';
import type { Schema } from '../store/schema.ts';
import { once, prepared } from '../store/statement.ts';

export const insertUser = prepared(
  (
    db,
    p: {
      id: string;
      username: string;
      passwordHash: string;
      email: string;
      firstName: string;
      lastName: string;
      phone: string;
      mobilePhone: string;
      details: string;
      roles: string;
      grants: string;
      now: number;
    },
  ) =>
    db
      .insertInto('users')
      .values({
        id: p.id,
        uid: currentNumber('uid'),
        username: p.username,
        password_hash: p.passwordHash,
        email: p.email,
        first_name: p.firstName,
        last_name: p.lastName,
        phone: p.phone,
        mobile_phone: p.mobilePhone,
        details: p.details,
        status: 'active',
        roles: p.roles,
        grants: p.grants,
        password_changed_at: p.now,
        created_at: p.now,
        updated_at: p.now,
      })
      .returningAll(),
);

export interface UserColumns {
  readonly email?: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly phone?: string;
  readonly mobile_phone?: string;
  readonly details?: string;
  readonly status?: 'active' | 'disabled';
  readonly roles?: string;
  readonly grants?: string;
  readonly quotas?: string;
  readonly password_hash?: string;
  readonly password_changed_at?: number;
}

interface Guarded {
  readonly id: string;
  /** The change is made to this revision, or not at all. */
  readonly revision: number;
  /** The user may lose what makes an admin of it: then another active admin must be there. */
  readonly keepAnAdmin: boolean;
}

export const updateUser = (columns: UserColumns, { id, revision, keepAnAdmin }: Guarded) =>
  once((db) => {
    const update = db
      .updateTable('users')
      .set({ ...columns, revision: revision + 1, updated_at: Date.now() })
      .where('id', '=', id)
      .where('revision', '=', revision)
      .returningAll();
    return keepAnAdmin ? update.where(anotherAdmin(id)) : update;
  });

export const deleteUser = ({ id, revision, keepAnAdmin }: Guarded) =>
  once((db) => {
    const removal = db.deleteFrom('users').where('id', '=', id).where('revision', '=', revision);
    return keepAnAdmin ? removal.where(anotherAdmin(id)) : removal;
  });

/** The same password under a costlier hash: no change to the user that anyone has to know of. */
export const renewHash = prepared((db, p: { id: string; old: string; renewed: string }) =>
  db
    .updateTable('users')
    .set({ password_hash: p.renewed })
    .where('id', '=', p.id)
    .where('password_hash', '=', p.old),
);

const anotherAdmin = (id: string) => (eb: ExpressionBuilder<Schema, 'users'>) =>
  eb.exists(
    eb
      .selectFrom('users as other')
      .select('other.id')
      .where('other.id', '!=', id)
      .where('other.status', '=', 'active')
      .where('other.roles', 'like', sql.lit('%"admin"%')),
  );
