import type { Statement } from '../store/statement.ts';
import { entryOf } from './audit.ts';

/** That the service has removed a reactor because nobody used it. */
export function idleRemovalEntry(reactorId: string): Statement {
  return entryOf({
    userId: null,
    username: '',
    client: '',
    address: '',
    action: 'Remove an idle reactor',
    method: '',
    resource: `/actors/v2/${reactorId}`,
    status: 200,
    requestId: '',
  });
}
