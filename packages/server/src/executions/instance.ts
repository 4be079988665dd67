import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '../ids.ts';

/**
 * Who this service is on an engine and a database that it may share with others: the name is made once for its data
 * folder, which one process at a time has. By it a service knows its containers and claims again after a kill.
 */
export function instanceOf(dataFolder: string): string {
  const file = join(dataFolder, 'instance');
  const known = read(file);
  if (known !== undefined) return known;
  const made = newId();
  writeFileSync(file, `${made}\n`, { mode: 0o600, flush: true });
  return made;
}

/** What the engine's driver calls everything it makes for this service. */
export const ownerOf = (instance: string): string => `reactord-${instance}`;

function read(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return /^[0-9A-Za-z]{14}$/.test(text) ? text : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
