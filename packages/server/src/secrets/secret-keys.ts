import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { SettingError } from '../config-sources.ts';
import { SecretBox } from './secret-box.ts';

interface Place {
  readonly config: Pick<Config, 'secrets_key' | 'secrets_old_keys'>;
  readonly dataFolder: string;
  /** Whether other machines may use the same store. */
  readonly shared: boolean;
  readonly log: { warn(facts: object, message: string): void };
}

const fileName = 'secrets.key';

/**
 * The box with the operator's key, or else with one of its own: a file in the data folder that only the service may
 * read, made at the first start. Once the operator sets a key, the one in the file counts as replaced.
 */
export function openSecretBox({ config, dataFolder, shared, log }: Place): SecretBox {
  const path = join(dataFolder, fileName);
  const older = (config.secrets_old_keys ?? []).map(readKey);
  if (config.secrets_key === undefined) {
    if (shared)
      log.warn(
        { file: path },
        'secrets are encrypted with a key that only this machine has; where several machines share the database, set the same secrets_key on each',
      );
    return new SecretBox(ownKey(path), older);
  }
  const replaced = readFileKey(path);
  const current = readKey(config.secrets_key);
  return new SecretBox(current, replaced === undefined ? older : [...older, replaced]);
}

function ownKey(path: string): Uint8Array {
  return readFileKey(path) ?? makeKey(path);
}

function readFileKey(path: string): Uint8Array | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new SettingError(`secrets_key: ${path} cannot be read (${String(error)}).`);
  }
  const key = readKey(text.trim());
  if (key.length === 32) return key;
  throw new SettingError(
    `secrets_key: ${path} does not hold a key of 32 bytes any more. Put the file back from a backup, or set secrets_key: without the key, secrets that were kept with it cannot be read.`,
  );
}

/** Complete and on the disk before it has its name: a secret that is kept under a lost key is lost too. */
function makeKey(path: string): Uint8Array {
  const key = randomBytes(32);
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o600);
  writeSync(file, `${key.toString('base64')}\n`);
  fsyncSync(file);
  closeSync(file);
  linkSync(draft, path);
  rmSync(draft);
  const folder = openSync(join(path, '..'), 'r');
  fsyncSync(folder);
  closeSync(folder);
  return key;
}

const readKey = (text: string): Uint8Array =>
  Buffer.from(text, /^[0-9a-fA-F]{64}$/.test(text) ? 'hex' : 'base64');
