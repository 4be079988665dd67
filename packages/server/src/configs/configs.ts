import type { Selectable } from 'kysely';
import type { Page } from '../contract/page.ts';
import type { RegistryCredentials } from '../engines/engine.ts';
import { fail, type ServiceError } from '../errors.ts';
import type { AccessChanges } from '../identity/access-changes.ts';
import { newId } from '../ids.ts';
import { configContext } from '../secrets/reseal.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { ConfigsTable } from '../store/sharing-tables.ts';
import { expectRows, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows, UniqueViolation } from '../store/store-errors.ts';
import { type Config, configsOf, refuseTooMuch, withReactors } from './config-rows.ts';
import { sizeOf } from './config-rules.ts';
import {
  deleteConfig,
  insertConfig,
  type KeptValue,
  linkConfig,
  unlinkConfig,
  updateConfig,
} from './config-statements.ts';
import { readCredentials } from './credentials.ts';
import { type Delivered, noConfigs, toHide } from './delivered.ts';

interface Owner {
  readonly userId: string;
  readonly username: string;
}

export interface NewConfig {
  readonly name: string;
  readonly value: string;
  readonly isSecret: boolean;
  readonly reactorIds: readonly string[];
}

export interface ConfigChange {
  /** Undefined: as it is. */
  readonly value: string | undefined;
  readonly isSecret: boolean;
  readonly reactorIds: readonly string[];
}

interface ConfigsParts {
  readonly store: Store;
  readonly changes: Pick<AccessChanges, 'write'>;
  readonly box: SecretBox;
}

/**
 * The configs and secrets of users. Each change is announced as one of the reactors that it concerns, since what is
 * remembered of a reactor says whether it has any.
 */
export class Configs {
  readonly #store: Store;
  readonly #changes: ConfigsParts['changes'];
  readonly #box: SecretBox;

  constructor({ store, changes, box }: ConfigsParts) {
    this.#store = store;
    this.#changes = changes;
    this.#box = box;
  }

  /** In order of the alphabet. */
  async list(ownerId: string, { limit, offset }: Page): Promise<readonly Config[]> {
    const rows = await configsOf(this.#store.read, ownerId)
      .orderBy('name')
      .limit(limit)
      .offset(offset)
      .execute();
    return withReactors(this.#store.read, rows);
  }

  async find(ownerId: string, name: string): Promise<Config> {
    const { read } = this.#store;
    const rows = await configsOf(read, ownerId).where('name', '=', name).execute();
    const [config] = await withReactors(read, rows);
    if (config === undefined) throw fail('unknown_resource', { kind: 'config', name });
    return config;
  }

  async create(owner: Owner, given: NewConfig): Promise<Config> {
    const { name, reactorIds } = given;
    const id = newId();
    const kept = this.#kept(id, name, given.value, given.isSecret);
    await refuseTooMuch(this.#store.read, id, reactorIds, kept.size);
    await this.#write(name, reactorIds, [
      insertConfig({ id, owner_id: owner.userId, name, ...kept }, Date.now()),
      ...reactorIds.map((reactorId) => expectRows(linkConfig({ id, reactorId, name }), 1)),
    ]);
    return this.find(owner.userId, name);
  }

  async change(owner: Owner, config: Config, to: ConfigChange): Promise<Config> {
    const { id, name } = config;
    const { value } = to;
    const kept = value === undefined ? undefined : this.#kept(id, name, value, to.isSecret);
    const size = kept?.size ?? config.size;
    await refuseTooMuch(this.#store.read, id, to.reactorIds, size);
    const gone = config.reactorIds.filter((reactorId) => !to.reactorIds.includes(reactorId));
    const now = Math.max(Date.now(), config.updatedAt + 1);
    await this.#write(
      name,
      [...config.reactorIds, ...to.reactorIds],
      [
        expectRows(updateConfig(id, config, kept ?? {}, now), 1),
        ...gone.map((reactorId) => unlinkConfig({ id, reactorId })),
        ...to.reactorIds
          .filter((reactorId) => !config.reactorIds.includes(reactorId))
          .map((reactorId) => expectRows(linkConfig({ id, reactorId, name }), 1)),
      ],
    );
    return this.find(owner.userId, name);
  }

  async remove({ id, name, reactorIds }: Config): Promise<void> {
    await this.#write(name, reactorIds, [expectRows(deleteConfig({ id }), 1)]);
  }

  /** What the containers of a reactor are given. Throws `key_missing` when a secret cannot be read. */
  async deliveredTo(reactor: {
    readonly id: string;
    readonly configs: number;
  }): Promise<Delivered> {
    if (reactor.configs === 0) return noConfigs;
    const rows = await this.#store.read
      .selectFrom('config_reactors')
      .innerJoin('configs', 'configs.id', 'config_reactors.config_id')
      .selectAll('configs')
      .where('config_reactors.reactor_id', '=', reactor.id)
      .orderBy('configs.name')
      .execute();
    const values: Record<string, string> = {};
    const secrets: string[] = [];
    for (const row of rows) {
      const value = this.#valueOf(row);
      values[row.name] = value;
      if (row.is_secret === 1) secrets.push(...toHide(value));
    }
    return { values, secrets };
  }

  /** The username and password in a secret of the user; a sentence when there are none. Throws `key_missing`. */
  async credentialsOf(ownerId: string, name: string): Promise<RegistryCredentials | string> {
    const row = await configsOf(this.#store.read, ownerId)
      .where('name', '=', name)
      .executeTakeFirst();
    if (row === undefined) return `There is no config called ${name}`;
    if (row.is_secret !== 1) return `The config ${name} is not a secret`;
    return (
      readCredentials(this.#valueOf(row)) ??
      `The secret ${name} is neither username:password nor {"username": …, "password": …}`
    );
  }

  #kept(id: string, name: string, value: string, isSecret: boolean): KeptValue {
    const size = sizeOf(name, value);
    if (!isSecret) return { value, sealed: null, key_id: null, is_secret: 0, size };
    const { sealed, keyId } = this.#box.seal(value, configContext(id));
    return { value: null, sealed, key_id: keyId, is_secret: 1, size };
  }

  #valueOf({ id, name, value, sealed, key_id: keyId }: Selectable<ConfigsTable>): string {
    if (sealed === null || keyId === null) return value ?? '';
    return this.#box.open({ sealed, keyId }, configContext(id), `The secret ${name}`);
  }

  async #write(
    name: string,
    reactorIds: readonly string[],
    unit: readonly Statement[],
  ): Promise<void> {
    const changes = [...new Set(reactorIds)].map((subject) => ({
      kind: 'reactor' as const,
      subject,
    }));
    try {
      await this.#changes.write(changes, ...unit);
    } catch (error) {
      if (error instanceof UniqueViolation && error.table === 'configs')
        throw fail('name_taken', { kind: 'config', name });
      if (error instanceof UniqueViolation) throw takenAtReactor(name);
      if (error instanceof UnexpectedRows) throw changedMeanwhile(name);
      throw error;
    }
  }
}

const takenAtReactor = (name: string): ServiceError =>
  fail('conflict', {
    problem: `One of these reactors has a config called ${name} of somebody else already. Choose another name.`,
  });

const changedMeanwhile = (name: string): ServiceError =>
  fail('conflict', {
    problem: `The config ${name}, or one of its reactors, was changed or deleted meanwhile. Try again.`,
  });
