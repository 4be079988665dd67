import { SettingError } from './config-sources.ts';
import { DataFolderError } from './data-folder.ts';
import { ServiceError } from './errors.ts';
import { CommandError } from './identity/command-errors.ts';
import { SchemaTooNew, StoreUnavailable } from './store/store-errors.ts';

const forOperators = [
  SettingError,
  CommandError,
  ServiceError,
  DataFolderError,
  SchemaTooNew,
  StoreUnavailable,
];

/** What ended the process: one sentence for what an operator can mend, the stack for what only we can. */
export function sentenceFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (forOperators.some((kind) => error instanceof kind)) return error.message;
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `${error.message.replace(/^listen EADDRINUSE: /, '')}; stop what listens there, or set REACTORD_PORT to another port.`;
  }
  if ('code' in error && (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')) {
    return `The address to listen on is not one of this machine's (${error.message}); set REACTORD_HOST to one that is.`;
  }
  return error.stack ?? error.message;
}
