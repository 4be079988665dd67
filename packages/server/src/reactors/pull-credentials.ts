import type { Configs } from '../configs/configs.ts';
import { PullFailed, type RegistryCredentials } from '../engines/engine.ts';
import { ServiceError } from '../errors.ts';
import type { Reactor } from './reactor.ts';
import type { RegistryLogins } from './registry-credentials.ts';

/** With which credentials the image of a reactor is pulled: those that it names, or else the operator's. */
export class PullCredentials {
  readonly #logins: Pick<RegistryLogins, 'forImage'>;
  readonly #configs: Pick<Configs, 'credentialsOf'>;

  constructor(logins: Pick<RegistryLogins, 'forImage'>, configs: Pick<Configs, 'credentialsOf'>) {
    this.#logins = logins;
    this.#configs = configs;
  }

  /** Undefined: the registry is asked without. Rejects with PullFailed when those that are named cannot be had. */
  async forPull(
    { ownerId, registryCredentials: name }: Pick<Reactor, 'ownerId' | 'registryCredentials'>,
    reference: string,
  ): Promise<RegistryCredentials | undefined> {
    if (name === null) return this.#logins.forImage(reference);
    try {
      const found = await this.#configs.credentialsOf(ownerId, name);
      if (typeof found !== 'string') return found;
      throw new PullFailed('refused', `registry_credentials: ${found}`);
    } catch (error) {
      // The key that it is encrypted with is missing: trying again does not mend that.
      if (error instanceof ServiceError)
        throw new PullFailed('refused', `registry_credentials: ${error.message}`);
      throw error;
    }
  }
}
