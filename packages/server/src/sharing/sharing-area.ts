import type { AccessChanges } from '../identity/access-changes.ts';
import type { Users } from '../identity/users.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { Store } from '../store/store.ts';
import { Aliases } from './aliases.ts';
import { Nonces } from './nonces.ts';

interface Parts {
  readonly store: Store;
  readonly changes: Pick<AccessChanges, 'write'>;
  readonly users: Pick<Users, 'byUsername'>;
  readonly box: SecretBox;
}

/** Who else may use a reactor, under which name, and by which secret. */
export interface SharingArea {
  readonly aliases: Aliases;
  readonly nonces: Nonces;
}

export function assembleSharing(parts: Parts): SharingArea {
  return { aliases: new Aliases(parts), nonces: new Nonces(parts.store, parts.box) };
}
