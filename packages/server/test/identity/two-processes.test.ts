import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createDatabase, startPostgres } from '../../../../setup/postgres.ts';
import { ServiceError } from '../../src/errors.ts';
import { openIdentityScene } from '../harness/identity-scene.ts';

const password = 'a long enough word';

let { REACTORD_TEST_POSTGRES: postgres } = process.env;
let stopPostgres = async () => {};
before(async () => {
  if (postgres !== undefined) return;
  const server = await startPostgres();
  postgres = server.url;
  stopPostgres = () => server.stop();
});
after(() => stopPostgres());

for (const dialect of ['sqlite', 'postgres'] as const) {
  describe(`two processes on one ${dialect} store`, () => {
    let scene: Awaited<ReturnType<typeof openIdentityScene>>;
    let other: Awaited<ReturnType<typeof scene.again>>;
    let drop = async () => {};
    before(async () => {
      let database: string | undefined;
      if (dialect === 'postgres') {
        const made = await createDatabase(postgres ?? '');
        database = made.url;
        drop = () => made.drop();
      }
      scene = await openIdentityScene({ database });
      other = await scene.again();
    });
    after(async () => {
      await scene.dispose();
      await drop();
    });

    const sides = () => [scene, other] as const;

    test('number their users without a gap and without a double', async () => {
      const made = await Promise.all(
        sides().flatMap(({ users }, side) =>
          Array.from({ length: 10 }, (_, place) =>
            users.create({ username: `user-${side}-${place}`, password }),
          ),
        ),
      );
      const uids = made.map(({ uid }) => uid).sort((a, b) => a - b);
      assert.deepEqual(
        uids,
        Array.from({ length: 20 }, (_, place) => 1001 + place),
      );
    });

    test('give one name to one user', async () => {
      const outcomes = await Promise.allSettled(
        sides().flatMap(({ users }) =>
          ['same', 'SAME', 'Same'].map((username) => users.create({ username, password })),
        ),
      );
      const taken = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason] : [],
      );
      assert.equal(taken.length, 5);
      for (const error of taken) {
        assert.ok(error instanceof ServiceError && error.code === 'name_taken', String(error));
      }
    });

    test('always leave an admin, whatever they do to the last two', async () => {
      const roles = ['admin'];
      const one = await scene.users.create({ username: 'one', password, roles });
      const two = await scene.users.create({ username: 'two', password, roles });
      for (let round = 0; round < 8; round += 1) {
        const outcomes = await Promise.allSettled([
          scene.users.change(one.id, { status: 'disabled' }),
          other.users.change(two.id, { roles: [] }),
        ]);
        const refused = outcomes.flatMap((outcome) =>
          outcome.status === 'rejected' ? [outcome.reason] : [],
        );
        assert.equal(refused.length, 1, `round ${round}: ${refused}`);
        assert.ok(refused[0] instanceof ServiceError && refused[0].code === 'conflict');
        const [a, b] = [await scene.users.byId(one.id), await scene.users.byId(two.id)];
        const left = [a, b].filter((user) => user?.status === 'active' && user.roles.has('admin'));
        assert.equal(left.length, 1);
        await scene.users.change(one.id, { status: 'active', roles });
        await scene.users.change(two.id, { status: 'active', roles });
      }
    });

    test('lose no field when both change one user', async () => {
      const { id } = await scene.users.create({ username: 'shared', password });
      await Promise.all([
        scene.users.change(id, { details: { city: 'London' }, phone: '1' }),
        other.users.change(id, { details: { fax: '2' }, email: 'a@example.org' }),
        scene.users.change(id, (user) => ({ grants: [...user.grants, 'reactors'] })),
        other.users.change(id, { firstName: 'Ada' }),
      ]);
      const user = await scene.users.byId(id);
      assert.deepEqual(user?.details, { city: 'London', fax: '2' });
      assert.deepEqual(
        [user?.phone, user?.email, user?.firstName, [...(user?.grants ?? [])]],
        ['1', 'a@example.org', 'Ada', ['reactors']],
      );
    });

    test('know each other’s sessions and ends of access', async () => {
      const { id } = await scene.users.create({ username: 'guest', password });
      const { session: before } = await other.sessions.open();
      const { cookie } = await scene.sessions.logIn(before, id);
      assert.equal((await other.sessions.find(cookie))?.userId, id);
      assert.ok(await other.credentials.check('guest', password, '192.0.2.1'));
      await scene.users.change(id, { status: 'disabled' });
      assert.equal(await other.sessions.find(cookie), undefined);
      assert.equal(await other.credentials.check('guest', password, '192.0.2.1'), undefined);
      assert.equal(await other.users.remove(id), true);
      assert.equal(await scene.users.remove(id), false);
    });

    test('find users by any part of their names', async () => {
      await scene.users.create({
        username: 'zoe',
        password,
        firstName: 'Zoë',
        lastName: '50%_off\\',
      });
      const page = { limit: 10, offset: 0, after: 0 };
      const found = async (fullName: string) =>
        (await other.users.search({ fullName }, page)).map(({ username }) => username);
      for (const part of ['zO', 'Zoë', 'ë 50', '%_', '\\', '0%']) {
        assert.deepEqual(await found(part), ['zoe'], part);
      }
      for (const part of ['_oe', 'z%e', '%%%', '\\\\'])
        assert.deepEqual(await found(part), [], part);
    });
  });
}
