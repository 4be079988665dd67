import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { Configs } from '../../src/configs/configs.ts';
import type { Caller } from '../../src/contract/caller.ts';
import { AccessChanges } from '../../src/identity/access-changes.ts';
import type { User } from '../../src/identity/user.ts';
import { Users } from '../../src/identity/users.ts';
import type { ReactorSettings } from '../../src/reactors/reactor.ts';
import { deleteReactor } from '../../src/reactors/reactor-rows.ts';
import { Reactors } from '../../src/reactors/reactors.ts';
import { reseal } from '../../src/secrets/reseal.ts';
import { SecretBox } from '../../src/secrets/secret-box.ts';
import { Aliases } from '../../src/sharing/aliases.ts';
import { Nonces } from '../../src/sharing/nonces.ts';
import { givePermission } from '../../src/sharing/permissions.ts';
import type { Store } from '../../src/store/store.ts';
import { quiet } from '../harness/beside-service.ts';
import type { TwoStores } from '../harness/two-stores.ts';
import { until } from '../harness/until.ts';

const settings: ReactorSettings = {
  description: '',
  image: 'tool:1',
  environment: {},
  stateless: true,
  maxWorkers: 1,
  memoryBytes: null,
  cpus: null,
  timeoutSeconds: 60,
  retries: 0,
  logSeconds: 60,
  token: true,
  hints: [],
  removeWhenIdle: false,
  privileged: false,
  registryCredentials: null,
  link: null,
  webhook: null,
  cronSchedule: null,
  cronOn: false,
  legacy: { type: 'none', queue: 'default', useContainerUid: false },
};

const log = { ...quiet, info: () => {}, warn: () => {} };

function processOn(store: Store, box: SecretBox) {
  const changes = new AccessChanges(store, quiet);
  const users = new Users(store, changes);
  const reactors = new Reactors({ store, changes, log: quiet });
  const aliases = new Aliases({ store, changes, users });
  const nonces = new Nonces(store, box);
  const configs = new Configs({ store, changes, box });
  changes.start();
  return { store, changes, users, reactors, aliases, nonces, configs };
}

const callerOf = ({ id, username, roles, grants }: User): Caller => ({
  userId: id,
  username,
  roles,
  grants,
  by: { kind: 'password' },
});

/** The ids of a user's list, page by page. */
async function walk(reactors: Reactors, userId: string): Promise<string[]> {
  const walked: string[] = [];
  let after: { createdAt: number; id: string } | undefined;
  for (;;) {
    const page = await reactors.list({ userId, limit: 3, offset: 0, after });
    walked.push(...page.map(({ id }) => id));
    after = page.at(-1);
    if (page.length < 3) return walked;
  }
}

/** Sharing, on whichever database the store is. */
export function testSharing(name: string, open: () => Promise<TwoStores>): void {
  describe(`sharing on ${name}`, () => {
    let subject: TwoStores;
    const box = new SecretBox(randomBytes(32));
    let here: ReturnType<typeof processOn>;
    let there: ReturnType<typeof processOn>;
    let ada: User;
    let bob: User;
    before(async () => {
      subject = await open();
      here = processOn(subject.one, box);
      there = processOn(subject.other, box);
      const password = 'a long enough word';
      ada = await here.users.create({ username: 'ada', password });
      bob = await here.users.create({ username: 'bob', password });
    });
    after(async () => {
      here.changes.stop();
      there.changes.stop();
      await subject.close();
    });

    const register = () => here.reactors.register(ada, null, settings, false);

    test('permissions are seen here at once, and in another process within two seconds', async () => {
      const reactor = await register();
      const asBob = (process: typeof here, needs: 'READ' | 'UPDATE') =>
        process.reactors.forCaller(callerOf(bob), reactor.id, needs).then(
          () => 200,
          (error) => error.status,
        );
      assert.deepEqual([await asBob(here, 'READ'), await asBob(there, 'READ')], [404, 404]);
      await givePermission(here, reactor, { user: 'bob', level: 'READ' });
      assert.deepEqual([await asBob(here, 'READ'), await asBob(here, 'UPDATE')], [200, 403]);
      await until(
        'the other process to know',
        async () => (await asBob(there, 'READ')) === 200,
        2_000,
      );
      const seen = await there.reactors.byId(reactor.id);
      assert.deepEqual(
        [...(seen?.permissions ?? [])],
        [[bob.id, { username: 'bob', level: 'READ' }]],
      );
      await givePermission(here, reactor, { user: 'bob', level: 'NONE' });
      await givePermission(here, reactor, { user: 'WORLD', level: 'UPDATE' });
      await until(
        'the other process to know',
        async () => (await asBob(there, 'UPDATE')) === 200,
        2_000,
      );
      await givePermission(here, reactor, { user: 'WORLD', level: 'NONE' });
      assert.equal(await asBob(here, 'READ'), 404);
    });

    test('a list has each reactor once, in pages that go on from a place', async () => {
      const cleo = await here.users.create({ username: 'cleo', password: 'a long enough word' });
      const ids: string[] = [];
      for (let number = 0; number < 8; number += 1) {
        const reactor =
          number % 2 === 0
            ? await here.reactors.register(cleo, null, settings, false)
            : await register();
        ids.push(reactor.id);
        if (number % 2 === 1) await givePermission(here, reactor, { user: 'cleo', level: 'READ' });
        if (number % 3 === 1) await givePermission(here, reactor, { user: 'WORLD', level: 'READ' });
      }
      const walked = await walk(here.reactors, cleo.id);
      assert.deepEqual(walked.toSorted(), ids.toSorted());
      const offset = await here.reactors.list({
        userId: cleo.id,
        limit: 3,
        offset: 4,
        after: undefined,
      });
      assert.deepEqual(
        offset.map(({ id }) => id),
        walked.slice(4, 7),
      );
    });

    test('an alias is one process’s alone to make, and leads nowhere once it has gone', async () => {
      const [first, second] = [await register(), await register()];
      const made = await Promise.allSettled([
        here.aliases.create(callerOf(ada), 'taken', first),
        there.aliases.create(callerOf(ada), 'taken', second),
      ]);
      assert.deepEqual(made.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
      const target = async () => (await there.reactors.byName('taken'))?.id;
      const was = await target();
      const alias = await here.aliases.forCaller(callerOf(ada), 'taken', 'UPDATE');
      const next = was === first.id ? second : first;
      await here.aliases.move(alias, next);
      await until('the alias to lead elsewhere', async () => (await target()) === next.id, 2_000);
      await assert.rejects(here.aliases.move(alias, next), /changed or removed/);
      const listed = await here.aliases.list(callerOf(ada), { limit: 10, offset: 0 });
      assert.deepEqual(
        listed.map((each) => each.alias),
        ['taken'],
      );
      await here.reactors.commit(next.id, deleteReactor({ id: next.id }));
      await until('the alias to lead nowhere', async () => (await target()) === undefined, 2_000);
      await here.aliases.create(callerOf(ada), 'taken', await register());
    });

    test('a nonce is used exactly as often as it may be, whichever process counts', async () => {
      const { id: reactorId } = await register();
      const made = await here.nonces.create(callerOf(ada), {
        subject: { reactorId },
        level: 'EXECUTE',
        maxUses: 5,
        description: '',
      });
      const uses = await Promise.allSettled(
        Array.from({ length: 30 }, async (_, number) => {
          const found = await (number % 2 === 0 ? here : there).nonces.atDoor(made.id ?? '');
          if (found === undefined) throw new Error('used up');
          await Promise.all([found.use.use(), found.use.use()]);
        }),
      );
      assert.equal(uses.filter(({ status }) => status === 'fulfilled').length, 5);
      const shown = await there.nonces.find({ reactorId }, made.id ?? '');
      assert.deepEqual([shown.id, shown.currentUses], [made.id, 5]);
      await there.nonces.remove({ reactorId }, made.id ?? '');
      assert.deepEqual(
        await here.nonces.list({ reactorId }, undefined, { limit: 9, offset: 0 }),
        [],
      );
    });

    test('configs are delivered, encrypted anew, and go with their user', async () => {
      const owner = await here.users.create({ username: 'dora', password: 'a long enough word' });
      const caller = callerOf(owner);
      const { id } = await register();
      const given = { name: 'WORD', value: 'a secret word', isSecret: true, reactorIds: [id] };
      const config = await here.configs.create(caller, given);
      await assert.rejects(here.configs.create(caller, given), /a config called WORD already/);
      const delivered = async (configs: Configs) => {
        const reactor = await here.reactors.byId(id);
        return reactor && (await configs.deliveredTo(reactor)).values;
      };
      assert.deepEqual(await delivered(there.configs), { WORD: 'a secret word' });
      const changed = { value: undefined, isSecret: true, reactorIds: [id] };
      await here.configs.change(caller, config, changed);
      await assert.rejects(there.configs.change(caller, config, changed), /changed or deleted/);
      const newer = randomBytes(32);
      const lonely = new Configs({ ...here, box: new SecretBox(newer) });
      await assert.rejects(delivered(lonely), /which this service does not have/);
      const oldKey = randomBytes(32);
      const renewing = new SecretBox(newer, [oldKey]);
      const before = new Configs({ ...here, box: new SecretBox(oldKey) });
      await before.create(caller, { ...given, name: 'OTHER', reactorIds: [] });
      await reseal({ store: subject.one, box: renewing, log });
      assert.deepEqual(
        await lonely.credentialsOf(owner.id, 'OTHER'),
        'The secret OTHER is neither username:password nor {"username": …, "password": …}',
      );
      await here.users.remove(owner.id);
      assert.deepEqual(await delivered(here.configs), {});
    });
  });
}
