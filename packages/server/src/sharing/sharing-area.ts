import type { AccessChanges } from '../identity/access-changes.ts';
import type { Users } from '../identity/users.ts';
import type { Store } from '../store/store.ts';
import { Aliases } from './aliases.ts';

interface Parts {
  readonly store: Store;
  readonly changes: Pick<AccessChanges, 'write'>;
  readonly users: Pick<Users, 'byUsername'>;
}

/** Who else may use a reactor, and under which name. */
export interface SharingArea {
  readonly aliases: Aliases;
}

export function assembleSharing(parts: Parts): SharingArea {
  return { aliases: new Aliases(parts) };
}
