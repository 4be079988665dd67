import type { Configs } from '../configs/configs.ts';
import { type Caller, isAdmin } from '../contract/caller.ts';
import { readReference } from '../engines/image-reference.ts';
import { fail } from '../errors.ts';
import type { Reactor, ReactorSettings } from './reactor.ts';

/** Whether the caller decides over the owner's secrets. A nonce does not, whoever has made it. */
export const isOwner = (caller: Caller, reactor: Reactor): boolean =>
  (caller.userId === reactor.ownerId && caller.by.kind !== 'nonce') || isAdmin(caller);

/** The secret that is named has to be there, and has to hold credentials. */
export async function checkCredentials(
  configs: Pick<Configs, 'credentialsOf'>,
  ownerId: string,
  { registryCredentials: name }: ReactorSettings,
): Promise<void> {
  if (name === null) return;
  const found = await configs.credentialsOf(ownerId, name);
  if (typeof found === 'string')
    throw fail('invalid_field', { field: 'registry_credentials', problem: found });
}

/**
 * Whoever may change a reactor of somebody else could have any secret of the owner sent to a registry of their own. So
 * they can keep what is named already, for the same registry, or leave it out.
 */
export function refuseOthersCredentials(reactor: Reactor, settings: ReactorSettings): void {
  const { registryCredentials: name } = settings;
  if (name === null) return;
  const registry = (image: string) => readReference(image)?.registry;
  if (name === reactor.registryCredentials && registry(settings.image) === registry(reactor.image))
    return;
  throw fail('not_allowed', {
    problem: `registry_credentials: only the owner ${reactor.ownerUsername} can name a secret, or another registry that gets it.`,
  });
}

/** Other credentials are there to be tried. */
export const credentialsAreNew = (current: Reactor, settings: ReactorSettings): boolean =>
  settings.registryCredentials !== null &&
  settings.registryCredentials !== current.registryCredentials;
