import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandFailure } from '../exit-codes.ts';
import type { Profile, Profiles } from './profile.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const lockPatienceMs = 45_000;
/** Nobody holds the lock for longer: a request for a token has ended by then. */
const lockEndsMs = 60_000;
/** Who has the lock. The folder may be on a disk that machines share. */
const mine = `${process.pid} ${hostname()}`;

/** The logins of this user, in one file that others cannot read. */
export class ProfileFile {
  readonly folder: string;
  readonly path: string;

  constructor(environment: Environment) {
    this.folder = join(configHome(environment), 'reactord');
    this.path = join(this.folder, 'credentials.json');
  }

  read(): Profiles {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return { profiles: {} };
      throw new CommandFailure(
        'failed',
        `${this.path} cannot be read (${codeOf(error)}).`,
        'Give it back to your user, or delete it and log in again.',
      );
    }
    try {
      return readProfiles(JSON.parse(text));
    } catch {
      throw new CommandFailure(
        'failed',
        `${this.path} is not what reactord has written.`,
        'Delete it and log in again: reactord login',
      );
    }
  }

  /**
   * Changes what is in the file, as it is at that moment, while no other command does. The work may ask the service:
   * of two commands that find the same token over, the second waits, and then sees what the first one got.
   */
  async change(work: (now: Profiles) => Promise<Profiles> | Profiles): Promise<Profiles> {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const release = await this.#lock();
    try {
      const before = this.read();
      const after = await work(before);
      if (after !== before) this.#write(after);
      return after;
    } finally {
      release();
    }
  }

  /** The new file is whole and on the disk before it takes the place of the old one. */
  #write(profiles: Profiles): void {
    const next = `${this.path}.${process.pid}`;
    const file = openSync(next, 'w', 0o600);
    try {
      writeSync(file, `${JSON.stringify(profiles, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    // The mode of openSync counts for new files only, and less what the umask takes.
    chmodSync(next, 0o600);
    renameSync(next, this.path);
  }

  async #lock(): Promise<() => void> {
    const lock = `${this.path}.lock`;
    const deadline = Date.now() + lockPatienceMs;
    for (;;) {
      try {
        const file = openSync(lock, 'wx', 0o600);
        writeSync(file, mine);
        closeSync(file);
        return () => removeLock(lock, mine);
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw cannotWrite(this.folder, error);
      }
      const abandoned = abandonedBy(lock);
      if (abandoned !== undefined) removeLock(lock, abandoned);
      else if (Date.now() > deadline)
        throw new CommandFailure(
          'failed',
          'Another reactord has been changing the logins for too long.',
          `If there is none, delete ${lock}.`,
        );
      else await pause(25);
    }
  }
}

/** Whose the lock is, where that process is gone, or is on another machine and has had it for too long. */
function abandonedBy(lock: string): string | undefined {
  try {
    const oldMs = Date.now() - statSync(lock).mtimeMs;
    const holder = readFileSync(lock, 'utf8');
    const [pid, host] = holder.split(' ');
    const isGone = host === hostname() ? !isAlive(Number(pid)) : oldMs > lockEndsMs;
    return isGone ? holder : undefined;
  } catch {
    return undefined;
  }
}

/** Unless somebody else has it by now. */
function removeLock(lock: string, holder: string): void {
  try {
    if (readFileSync(lock, 'utf8') === holder) rmSync(lock, { force: true });
  } catch {
    // It is gone.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function configHome(environment: Environment): string {
  const named = environment['XDG_CONFIG_HOME'];
  // The specification: a relative path is not valid, and is to be ignored.
  return named?.startsWith('/') ? named : join(environment['HOME'] || homedir(), '.config');
}

function readProfiles(value: unknown): Profiles {
  if (typeof value !== 'object' || value === null || !('profiles' in value)) throw new Error();
  const { profiles } = value;
  if (typeof profiles !== 'object' || profiles === null) throw new Error();
  const read = Object.entries(profiles).map(([name, one]) => [name, readProfile(one)] as const);
  const current =
    'current' in value && typeof value.current === 'string' ? value.current : undefined;
  return { current, profiles: Object.fromEntries(read) };
}

function readProfile(value: unknown): Profile {
  const fields: ReadonlyMap<string, unknown> = new Map(Object.entries(Object(value)));
  const text = (name: string): string | undefined => {
    const field = fields.get(name);
    return typeof field === 'string' ? field : undefined;
  };
  const server = text('server');
  const accessToken = text('accessToken');
  if (server === undefined || accessToken === undefined) throw new Error();
  const expiresAt = fields.get('expiresAt');
  return {
    server,
    username: text('username'),
    accessToken,
    refreshToken: text('refreshToken'),
    expiresAt: typeof expiresAt === 'number' ? expiresAt : undefined,
  };
}

const cannotWrite = (folder: string, error: unknown): CommandFailure =>
  new CommandFailure(
    'failed',
    `The login cannot be kept in ${folder} (${codeOf(error)}).`,
    'Set XDG_CONFIG_HOME to a folder that can be written.',
  );

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return error instanceof Error ? error.message : String(error);
}
