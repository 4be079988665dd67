import { users } from './0001-users.ts';
import type { Migration } from './migration.ts';

/** All steps of the schema, in order. */
export const migrations: readonly Migration[] = [users];
