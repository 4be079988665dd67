import { readFile } from 'node:fs/promises';
import { SettingError } from '../config-sources.ts';
import type { RegistryCredentials } from '../engines/engine.ts';
import { readReference } from '../engines/image-reference.ts';

/** As `docker login` spells the default registry. */
const defaultSpellings = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

/** The operator's credentials for private registries: a file as `docker login` writes it, read anew for each pull. */
export class RegistryLogins {
  readonly #path: string | undefined;

  private constructor(path: string | undefined) {
    this.#path = path;
  }

  /** Throws a SettingError when the file is not one. */
  static async open(path: string | undefined): Promise<RegistryLogins> {
    const logins = new RegistryLogins(path);
    await logins.#read();
    return logins;
  }

  /** Undefined: the registry is asked without. */
  async forImage(reference: string): Promise<RegistryCredentials | undefined> {
    const registry = readReference(reference)?.registry;
    return registry === undefined ? undefined : (await this.#read()).get(registry);
  }

  async #read(): Promise<ReadonlyMap<string, RegistryCredentials>> {
    if (this.#path === undefined) return new Map();
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new SettingError(`registry_auth: the file cannot be read (${reason}).`);
    }
    return readLogins(text, this.#path);
  }
}

function readLogins(text: string, path: string): ReadonlyMap<string, RegistryCredentials> {
  const wrong = (what: string): SettingError =>
    new SettingError(
      `registry_auth: ${path} ${what}. It takes a file as docker login writes it: {"auths": {"registry.example.org": {"auth": "<base64 of user:password>"}}}.`,
    );
  const auths = member(parse(text), 'auths');
  if (!isObject(auths)) throw wrong('is not JSON with an object "auths"');
  const logins = new Map<string, RegistryCredentials>();
  for (const [address, entry] of Object.entries(auths)) {
    const credentials = readEntry(entry);
    if (credentials === undefined)
      throw wrong(
        `has no usable "auth" for ${address} (helpers that keep it elsewhere are not asked)`,
      );
    logins.set(registryOf(address), credentials);
  }
  return logins;
}

/** `registry.example.org:5000` of `https://registry.example.org:5000/v1/`. */
function registryOf(address: string): string {
  const host = address.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
  return defaultSpellings.has(host) ? 'docker.io' : host;
}

function readEntry(entry: unknown): RegistryCredentials | undefined {
  const [auth, username, password] = ['auth', 'username', 'password'].map((name) =>
    member(entry, name),
  );
  if (typeof auth === 'string' && auth !== '') {
    const decoded = Buffer.from(auth, 'base64').toString('utf8').replace(/\0+$/, '');
    const at = decoded.indexOf(':');
    return at < 1 ? undefined : { username: decoded.slice(0, at), password: decoded.slice(at + 1) };
  }
  if (typeof username !== 'string' || typeof password !== 'string') return undefined;
  return { username, password };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function member(value: unknown, name: string): unknown {
  return isObject(value) ? Reflect.get(value, name) : undefined;
}
