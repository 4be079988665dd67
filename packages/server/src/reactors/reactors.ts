import type { Caller } from '../contract/caller.ts';
import type { PermissionLevel } from '../contract/permission-level.ts';
import { fail } from '../errors.ts';
import type { AccessChange, AccessChanges } from '../identity/access-changes.ts';
import type { QuotaDefaults } from '../identity/quotas.ts';
import { newId } from '../ids.ts';
import { takeNumber } from '../store/counters.ts';
import { expectRows, once, type Statement } from '../store/statement.ts';
import type { Store } from '../store/store.ts';
import { UnexpectedRows } from '../store/store-errors.ts';
import { canBeAlias } from './alias-names.ts';
import { type Reactor, type ReactorSettings, reactorIdPattern } from './reactor.ts';
import { nobody, permitted, unknownReactor } from './reactor-access.ts';
import { firstFirings } from './reactor-firings.ts';
import { type ListedPage, listReactors } from './reactor-list.ts';
import { ReactorMemory } from './reactor-memory.ts';
import { reactorQuota } from './reactor-quota.ts';
import { columnsOf, holdOwner, reactorFrom, selectReactors } from './reactor-rows.ts';

export interface ReactorsOptions {
  readonly store: Store;
  readonly changes: Pick<AccessChanges, 'write' | 'onChange'>;
  readonly log: { warn(facts: object, message: string): void };
  /** What users may have who have no quotas of their own. */
  readonly quotas?: QuotaDefaults;
  readonly now?: () => number;
}

/** Whether the image is fetched, and whether the registry is asked although a copy is at hand. */
export interface PullWish {
  readonly pull: boolean;
  readonly askRegistry: boolean;
}

type ReactorListener = (reactorId: string) => void;
type RemovingListener = (reactor: Reactor, by: string) => Promise<void>;

/** How often a PUT is thought over again because another one was faster. */
const mostTries = 10;
const mostAtOnce = 200;

/**
 * The registered reactors. What is read by id is remembered; every change is committed together with an access change
 * of kind `reactor`, by which all processes forget it within a second or so. (The alternative, a version that each
 * message compares in its own statement, would make every message pay for what changes once a day.)
 */
export class Reactors {
  readonly #store: Store;
  readonly #changes: ReactorsOptions['changes'];
  readonly #log: ReactorsOptions['log'];
  readonly #quotas: QuotaDefaults | undefined;
  readonly #now: () => number;
  readonly #memory = new ReactorMemory();
  readonly #changed = new Set<string>();
  readonly #ready: ReactorListener[] = [];
  readonly #removed: ReactorListener[] = [];
  readonly #submitted: ReactorListener[] = [];
  readonly #removing: RemovingListener[] = [];

  constructor({ store, changes, log, quotas, now = Date.now }: ReactorsOptions) {
    this.#store = store;
    this.#changes = changes;
    this.#log = log;
    this.#quotas = quotas;
    this.#now = now;
    changes.onChange((change) => this.#noticeChange(change));
  }

  /** From memory where it is known. Never tells of pull progress: `show` does. */
  async byId(id: string): Promise<Reactor | undefined> {
    return this.#memory.get(id) ?? this.#memory.load(undefined, () => this.#read(id));
  }

  /** By its id or one of its aliases; from memory where it is known. */
  async byName(name: string): Promise<Reactor | undefined> {
    return this.#remembered(name) ?? (await this.#find(name));
  }

  /** The reactor, if this caller has the permission. To those who have none at all it does not exist. */
  async forCaller(caller: Caller, name: string, needs: PermissionLevel): Promise<Reactor> {
    const known = this.rememberedFor(caller, name, needs);
    if (known !== undefined) return known;
    const reactor = permitted(caller, name, needs, await this.#find(name));
    if (caller.by.kind === 'nonce') await caller.by.use();
    return reactor;
  }

  /** The same where it can be said at once; throws where the permission is missing. */
  rememberedFor(caller: Caller, name: string, needs: PermissionLevel): Reactor | undefined {
    if (caller.by.kind === 'nonce') return undefined;
    const known = this.#remembered(name);
    return known && permitted(caller, name, needs, known);
  }

  /** As the store has it at this moment. */
  async show(caller: Caller, name: string, needs: PermissionLevel): Promise<Reactor> {
    const found = (await this.#read(name)) ?? (await this.#readByAlias(name));
    const reactor = permitted(caller, name, needs, found);
    if (caller.by.kind === 'nonce') await caller.by.use();
    return reactor;
  }

  /** Newest first. */
  list(page: ListedPage): Promise<readonly Reactor[]> {
    return listReactors(this.#store.read, page);
  }

  async register(
    owner: { readonly id: string; readonly username: string },
    name: string | null,
    settings: ReactorSettings,
    askRegistry: boolean,
  ): Promise<Reactor> {
    const id = newId();
    const now = this.#now();
    const firings = firstFirings(settings, now);
    const row = {
      id,
      owner_id: owner.id,
      name,
      ...columnsOf(settings),
      ...firings,
      status: 'SUBMITTED' as const,
      revision: 1,
      pull_asked: askRegistry ? 1 : 0,
      tended_at: now,
      created_at: now,
      updated_at: now,
    };
    const quota = await reactorQuota(this.#store, owner.id, this.#quotas);
    try {
      await this.#store.write(
        // A user who is being deleted at this moment registers nothing more.
        expectRows(holdOwner({ ownerId: owner.id }), 1),
        ...(quota === undefined ? [] : [quota.check]),
        once((db) => db.insertInto('reactors').values(row)),
        takeNumber('reactors'),
      );
    } catch (error) {
      if (error instanceof UnexpectedRows && error.statement === 1 && quota !== undefined)
        throw fail('conflict', {
          problem: `You may have ${quota.most} reactors and have them. Delete one, or ask an admin for a larger quota.`,
        });
      if (error instanceof UnexpectedRows)
        throw fail('unknown_resource', { kind: 'user', name: owner.username });
      throw error;
    }
    tellEach(this.#submitted, id);
    return {
      id,
      ownerId: owner.id,
      ownerUsername: owner.username,
      // Nobody asks this copy of the reactor for them.
      ownerQuotas: {},
      ownerIsAdmin: false,
      name,
      ...settings,
      imageDigest: null,
      imageId: null,
      status: 'SUBMITTED',
      statusMessage: '',
      revision: 1,
      configs: 0,
      permissions: nobody,
      worldLevel: undefined,
      webhookKey: 1,
      webhookRotatedAt: null,
      cronStartAt: firings.cron_start_at,
      cronNextAt: firings.cron_next_at,
      createdAt: now,
      updatedAt: now,
    };
  }

  /**
   * Replaces everything but name and owner. `decide` says, from the reactor as it is, whether the image is fetched:
   * then the revision is raised, and the reactor waits for its image again.
   */
  async replace(
    reactor: Reactor,
    settings: ReactorSettings,
    decide: (current: Reactor) => PullWish,
  ): Promise<Reactor> {
    const { id } = reactor;
    let current: Reactor | undefined = reactor;
    for (let attempt = 1; attempt <= mostTries; attempt += 1) {
      if (current === undefined) throw unknownReactor(id);
      if (current.status === 'SHUTTING_DOWN')
        throw fail('conflict', { problem: `The reactor ${id} is being deleted.` });
      const wish = decide(current);
      if (await this.#replaced(current, settings, wish)) {
        if (wish.pull) tellEach(this.#submitted, id);
        const after = await this.#read(id);
        if (after === undefined) throw unknownReactor(id);
        return after;
      }
      current = await this.#read(id);
    }
    throw fail('busy');
  }

  /** Commits the statements, whose subject is this reactor, and makes every process forget what it knew of it. */
  async commit(id: string, ...unit: readonly Statement[]) {
    return this.#changes.write([{ kind: 'reactor', subject: id }], ...unit);
  }

  /** The reactor has its image, or something else about it has changed while it has: may be told more than once. */
  onReady(listener: ReactorListener): void {
    this.#ready.push(listener);
  }

  /** The reactor is gone; told in every process. */
  onRemoved(listener: ReactorListener): void {
    this.#removed.push(listener);
  }

  /** The reactor is to go, by this user's wish: stop what runs and drop what waits. It goes once all have resolved. */
  onRemoving(listener: RemovingListener): void {
    this.#removing.push(listener);
  }

  /** This process has put the reactor into SUBMITTED: its image is wanted. */
  onSubmitted(listener: ReactorListener): void {
    this.#submitted.push(listener);
  }

  async tellRemoving(reactor: Reactor, by: string): Promise<void> {
    await Promise.all(this.#removing.map((listener) => listener(reactor, by)));
  }

  async #read(id: string): Promise<Reactor | undefined> {
    // Texts that no reactor has, some of which the store could not even be asked for.
    if (!reactorIdPattern.test(id)) return undefined;
    const row = await selectReactors(this.#store.read)
      .where('reactors.id', '=', id)
      .executeTakeFirst();
    return row && reactorFrom(row);
  }

  #remembered(name: string): Reactor | undefined {
    return this.#memory.get(name) ?? this.#memory.byAlias(name);
  }

  async #find(name: string): Promise<Reactor | undefined> {
    const known = this.#remembered(name);
    if (known !== undefined) return known;
    const byId = await this.byId(name);
    return byId ?? this.#memory.load(name, () => this.#readByAlias(name));
  }

  async #readByAlias(name: string): Promise<Reactor | undefined> {
    if (!canBeAlias(name)) return undefined;
    const row = await selectReactors(this.#store.read)
      .innerJoin('aliases', 'aliases.reactor_id', 'reactors.id')
      .where('aliases.alias', '=', name)
      .executeTakeFirst();
    return row && reactorFrom(row);
  }

  /** False: another PUT or a DELETE was faster. */
  async #replaced(current: Reactor, settings: ReactorSettings, wish: PullWish): Promise<boolean> {
    const now = this.#now();
    const sameSchedule =
      current.cronSchedule === settings.cronSchedule && current.cronOn === settings.cronOn;
    const firings = sameSchedule ? {} : firstFirings(settings, now, current);
    const update = once((db) =>
      db
        .updateTable('reactors')
        .set((eb) => ({
          ...columnsOf(settings),
          ...firings,
          updated_at: now,
          ...(wish.pull && {
            status: 'SUBMITTED' as const,
            status_message: '',
            image_id: null,
            image_digest: null,
            pull_asked: wish.askRegistry ? 1 : 0,
            tended_at: now,
            revision: eb('revision', '+', 1),
          }),
        }))
        .where('id', '=', current.id)
        .where('image', '=', current.image)
        // Otherwise the next firing would be another schedule's.
        .where('cron_schedule', current.cronSchedule === null ? 'is' : '=', current.cronSchedule)
        .where('cron_on', '=', current.cronOn ? 1 : 0)
        .where('status', '!=', 'SHUTTING_DOWN'),
    );
    try {
      await this.commit(current.id, expectRows(update, 1));
      return true;
    } catch (error) {
      if (error instanceof UnexpectedRows) return false;
      throw error;
    }
  }

  #noticeChange({ kind, subject }: AccessChange): void {
    if (kind === 'user') this.#memory.forgetAllOf(subject);
    if (kind !== 'reactor') return;
    this.#memory.forget(subject);
    if (this.#changed.size === 0) setImmediate(() => void this.#tellOfChanges());
    this.#changed.add(subject);
  }

  /** Whoever waits for a reactor is told here, whichever process changed it. */
  async #tellOfChanges(): Promise<void> {
    const ids = [...this.#changed];
    this.#changed.clear();
    try {
      for (let at = 0; at < ids.length; at += mostAtOnce) {
        const some = ids.slice(at, at + mostAtOnce);
        const rows = await this.#store.read
          .selectFrom('reactors')
          .select(['id', 'status'])
          .where('id', 'in', some)
          .execute();
        const statuses = new Map(rows.map(({ id, status }) => [id, status]));
        for (const id of some) {
          if (!statuses.has(id)) tellEach(this.#removed, id);
          if (statuses.get(id) === 'READY') tellEach(this.#ready, id);
        }
      }
    } catch (error) {
      this.#log.warn({ err: error, reactors: ids.length }, 'looking at changed reactors failed');
    }
  }
}

function tellEach(listeners: readonly ReactorListener[], id: string): void {
  for (const listener of listeners) listener(id);
}
