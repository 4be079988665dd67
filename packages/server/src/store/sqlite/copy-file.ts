import { closeSync, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { connectToRead } from './connection.ts';

/**
 * A copy of a database as it is at one moment, while others go on writing to it: of everything that is committed by then,
 * and of nothing later. It is whole and on the disk when this returns.
 */
export function copyFile(from: string, to: string): void {
  // For its owner only, from its first byte on.
  closeSync(openSync(to, 'wx', 0o600));
  const source = connectToRead(from);
  try {
    source.prepare('VACUUM INTO ?').run(to);
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(to, { readOnly: true });
  try {
    const [row] = copy.prepare('PRAGMA quick_check').all();
    if (row?.['quick_check'] !== 'ok')
      throw new Error(`The copy of ${from} is damaged: ${String(row?.['quick_check'])}`);
  } finally {
    copy.close();
  }
  const file = openSync(to, 'r');
  fsyncSync(file);
  closeSync(file);
}
