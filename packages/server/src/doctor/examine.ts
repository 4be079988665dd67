import { join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { readConfig, unknownEnvironmentNames } from '../config-sources.ts';
import { type EngineLook, lookAtEngine } from '../engines/docker/engine-look.ts';
import { lookAtStore, type StoreLook } from '../store/store-check.ts';
import { StoreUnavailable } from '../store/store-errors.ts';
import { type Finding, reasonOf, well, worrying, wrong } from './finding.ts';
import { checkDataFolder, checkDisk, holderOf, inWords } from './folder-checks.ts';
import { checkPort } from './port-check.ts';

interface Examined {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Looks at everything that a service with these settings stands on, and changes nothing. */
export async function examine({ flags, environment }: Examined): Promise<readonly Finding[]> {
  let config: Config;
  try {
    config = readConfig({ flags, environment });
  } catch (error) {
    const todo = 'Correct it; docs/reference/settings.md lists what each setting takes.';
    return [wrong('settings', reasonOf(error), todo)];
  }
  const folder = resolve(config.data);
  const holder = holderOf(folder);
  const [store, engine, port] = await Promise.all([
    lookAtStore(config.database ?? join(folder, 'reactord.db')).catch(asError),
    lookAtEngine(config.engine, environment).catch(asError),
    checkPort(config.host, config.port, holder),
  ]);
  const engineFolder = engine instanceof Error ? undefined : engine.folder;
  return [
    settingsFinding(environment),
    checkDataFolder(folder),
    checkDisk('the data folder', folder),
    storeFinding(store),
    engineFinding(engine),
    ...(engineFolder === undefined ? [] : [checkDisk('the engine', engineFolder)]),
    port,
    clockFinding(store, engine),
  ];
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

function settingsFinding(environment: Examined['environment']): Finding {
  const check = 'settings';
  const unknown = unknownEnvironmentNames(environment);
  if (unknown.length === 0) return well(check, 'All settings are understood.');
  return worrying(
    check,
    `${unknown.join(', ')} in the environment ${unknown.length === 1 ? 'is not a setting' : 'are not settings'}.`,
    'Remove or correct it; docs/reference/settings.md lists all settings.',
  );
}

function storeFinding(look: StoreLook | Error): Finding {
  const check = 'store';
  if (look instanceof Error) {
    const todo =
      look instanceof StoreUnavailable
        ? 'Start the database and check REACTORD_DATABASE, its password and who may connect.'
        : 'Check REACTORD_DATABASE.';
    return wrong(check, look.message, todo);
  }
  const name =
    look.kind === 'postgres'
      ? `PostgreSQL ${look.version}`
      : `SQLite${look.size === undefined ? '' : ` (${inWords(look.size)})`}`;
  return well(
    check,
    look.schema === undefined
      ? `${name} is empty, and is prepared at the first start.`
      : `${name} answers, with schema ${look.schema}.`,
  );
}

function engineFinding(look: EngineLook | Error): Finding {
  const check = 'engine';
  if (look instanceof Error)
    return wrong(
      check,
      look.message,
      'Start it (npm start does where it can), or name another with REACTORD_ENGINE.',
    );
  const without = [look.limitsMemory ? '' : 'memory', look.limitsCpu ? '' : 'CPU'].filter(Boolean);
  if (without.length === 0) return well(check, `${look.name} answers.`);
  return worrying(
    check,
    `${look.name} answers, and cannot limit the ${without.join(' and the ')} of containers.`,
    'Let it have the cgroup controllers memory and cpu.',
  );
}

const mostApartMs = 2_000;

/** Tokens, leases and schedules are compared with times that others wrote. */
function clockFinding(store: StoreLook | Error, engine: EngineLook | Error): Finding {
  const check = 'clock';
  const others = [
    { name: 'PostgreSQL', aheadMs: store instanceof Error ? undefined : store.aheadMs },
    { name: 'the engine', aheadMs: engine instanceof Error ? undefined : engine.aheadMs },
  ].flatMap(({ name, aheadMs }) => (aheadMs === undefined ? [] : [{ name, aheadMs }]));
  if (others.length === 0) return well(check, 'There is no other clock to compare with.');
  const apart = others.find(({ aheadMs }) => Math.abs(aheadMs) > mostApartMs);
  if (apart === undefined)
    return well(check, `The clock agrees with ${others.map(({ name }) => name).join(' and ')}.`);
  const seconds = Math.abs(apart.aheadMs / 1000).toFixed(1);
  const direction = apart.aheadMs > 0 ? 'ahead of' : 'behind';
  return wrong(
    check,
    `The clock of ${apart.name} is ${seconds} s ${direction} this machine's.`,
    'Keep both by NTP, for example with: timedatectl set-ntp true',
  );
}
