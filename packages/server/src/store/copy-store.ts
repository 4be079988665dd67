import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isPostgres, logFile, storeFile } from './open.ts';
import { copyFile } from './sqlite/copy-file.ts';

/**
 * Copies the databases of a service on SQLite into a folder, while it runs: the names of the files. Undefined on PostgreSQL,
 * which has tools of its own. The logs come last: an execution that has ended in one copy has its log in the other.
 */
export function copyStore(
  { database, dataFolder }: { readonly database: string | undefined; readonly dataFolder: string },
  folder: string,
): readonly string[] | undefined {
  if (isPostgres(database)) return undefined;
  const store = database ?? join(dataFolder, storeFile);
  if (!existsSync(store)) throw new Error(`there is no database at ${store}`);
  copyFile(store, join(folder, storeFile));
  copyFile(join(dataFolder, logFile), join(folder, logFile));
  return [storeFile, logFile];
}
