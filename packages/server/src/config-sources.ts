import { existsSync, readFileSync } from 'node:fs';
import { type Config, type SettingName, settings } from './config.ts';
import { nearest } from './nearest.ts';
import type { Setting } from './setting-kinds.ts';

/** A setting that is wrong or unknown. The sentence names it, where it came from, and what is allowed. */
export class SettingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SettingError';
  }
}

export interface ConfigSources {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

interface Given {
  readonly text: string;
  /** The name as the operator wrote it: --port, REACTORD_PORT, or `port (line 3 of reactord.conf)`. */
  readonly writtenAs: string;
}

type GivenSettings = ReadonlyMap<SettingName, Given>;

const settingNames = new Set<string>(Object.keys(settings));
const defaultFile = 'reactord.conf';

export const environmentName = (name: string): string => `REACTORD_${name.toUpperCase()}`;
export const flagName = (name: string): string => `--${name.replaceAll('_', '-')}`;

/** Reads every setting: a flag wins over the environment, the environment over the file, the file over the default. */
export function readConfig({ flags, environment }: ConfigSources): Config {
  const fromFlags = readFlags(flags);
  const fromEnvironment = readEnvironment(environment);
  const file = fromFlags.get('config') ?? fromEnvironment.get('config');
  const fromFile = readFile(file);
  const given = new Map([...fromFile, ...fromEnvironment, ...fromFlags]);
  const entries = Object.entries(settings).map(([name, setting]) => [
    name,
    checkedValue(setting, isSettingName(name) ? given.get(name) : undefined),
  ]);
  return Object.fromEntries(entries) as Config;
}

/** Names in the environment that look like a setting and are none: worth a warning, since other programs may set them. */
export function unknownEnvironmentNames(
  environment: ConfigSources['environment'],
): readonly string[] {
  // By npm start, and by the command line.
  const readByOthers = new Set([
    'REACTORD_SETUP',
    'REACTORD_SERVER',
    'REACTORD_PROFILE',
    'REACTORD_TOKEN',
  ]);
  return Object.keys(environment).filter(
    (name) =>
      name.startsWith('REACTORD_') &&
      !readByOthers.has(name) &&
      !settingNames.has(name.slice('REACTORD_'.length).toLowerCase()),
  );
}

function checkedValue(setting: Setting<unknown>, given: Given | undefined): unknown {
  if (given === undefined) return setting.defaultValue;
  const value = setting.read(given.text);
  if (value === undefined) {
    const shown = setting.secret ? '' : ` is ${JSON.stringify(given.text)}, which`;
    throw new SettingError(
      `${given.writtenAs}${shown} is not allowed; it takes ${setting.allows}.`,
    );
  }
  return value;
}

function readFlags(flags: readonly string[]): GivenSettings {
  const given = new Map<SettingName, Given>();
  const rest = [...flags];
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    const [word, inline] = splitOnce(next, '=');
    const name = word.replace(/^--/, '').replaceAll('-', '_');
    if (!word.startsWith('--') || !isSettingName(name)) throw unknown(word, flagName);
    const text = inline ?? rest.shift();
    if (text === undefined)
      throw new SettingError(`${word} needs a value; it takes ${settings[name].allows}.`);
    given.set(name, { text, writtenAs: word });
  }
  return given;
}

function readEnvironment(environment: ConfigSources['environment']): GivenSettings {
  const given = new Map<SettingName, Given>();
  for (const name of Object.keys(settings).filter(isSettingName)) {
    const text = environment[environmentName(name)];
    // An empty variable is how many tools write "not set".
    if (text !== undefined && text !== '')
      given.set(name, { text, writtenAs: environmentName(name) });
  }
  return given;
}

function readFile(named: Given | undefined): GivenSettings {
  if (named === undefined && !existsSync(defaultFile)) return new Map();
  const path = named?.text ?? defaultFile;
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingError(`${named?.writtenAs ?? 'The config file'} cannot be read: ${reason}.`);
  }
  const given = new Map<SettingName, Given>();
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    const where = `line ${index + 1} of ${path}`;
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [key = '', value] = splitOnce(trimmed, '=');
    const name = key.trim().replaceAll('-', '_').toLowerCase();
    if (value === undefined) throw new SettingError(`${where} is not \`name = value\`.`);
    if (!isSettingName(name) || name === 'config')
      throw unknown(`${key.trim()} (${where})`, (known) => known, name);
    given.set(name, { text: unquote(value.trim()), writtenAs: `${name} (${where})` });
  }
  return given;
}

function unknown(
  writtenAs: string,
  spell: (name: string) => string,
  name = writtenAs,
): SettingError {
  const known = Object.keys(settings).map(spell);
  const near = nearest(name, known);
  const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean ${near}?`;
  return new SettingError(`${writtenAs} is not a setting; ${hint}`);
}

function isSettingName(name: string): name is SettingName {
  return settingNames.has(name);
}

function splitOnce(whole: string, separator: string): [string, string | undefined] {
  const at = whole.indexOf(separator);
  return at === -1 ? [whole, undefined] : [whole.slice(0, at), whole.slice(at + separator.length)];
}

function unquote(value: string): string {
  return /^"(.*)"$/.exec(value)?.[1] ?? value;
}
