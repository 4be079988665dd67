import type { Migration } from '../migrations/migration.ts';
import { logs } from './0001-logs.ts';
import { attempts } from './0002-attempts.ts';
import { results } from './0003-results.ts';

/** All steps of the schema of the logs, in order. They are numbered apart from those of the store. */
export const logMigrations: readonly Migration[] = [logs, attempts, results];
