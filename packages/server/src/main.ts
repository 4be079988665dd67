import { readConfig, SettingError, unknownEnvironmentNames } from './config-sources.ts';
import { DataFolderError } from './data-folder.ts';
import { startService } from './service.ts';
import { stopOnSignals } from './stop-signals.ts';
import { SchemaTooNew, StoreUnavailable } from './store/store-errors.ts';

/** The process: reads the settings, starts the service, and turns what an operator can mend into one sentence. */
async function main(): Promise<void> {
  const environment = process.env;
  for (const name of unknownEnvironmentNames(environment)) {
    process.stderr.write(
      `reactord: ${name} in the environment is not a setting and has no effect.\n`,
    );
  }
  const config = readConfig({ flags: process.argv.slice(2), environment });
  const starting = startService(config, environment);
  stopOnSignals(starting);
  await starting;
}

main().catch((error: unknown) => {
  process.stderr.write(`reactord: ${sentenceFor(error)}\n`);
  process.exit(error instanceof SettingError ? 2 : 1);
});

function sentenceFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const forOperators = [SettingError, DataFolderError, SchemaTooNew, StoreUnavailable];
  if (forOperators.some((kind) => error instanceof kind)) return error.message;
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `${error.message.replace(/^listen EADDRINUSE: /, '')}; stop what listens there, or set REACTORD_PORT to another port.`;
  }
  if ('code' in error && (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')) {
    return `The address to listen on is not one of this machine's (${error.message}); set REACTORD_HOST to one that is.`;
  }
  return error.stack ?? error.message;
}
