import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ServiceError } from '../../src/errors.ts';
import { Clients } from '../../src/oauth/clients.ts';
import { prepared } from '../../src/store/statement.ts';
import { openIdentityScene } from '../harness/identity-scene.ts';
import { until } from '../harness/until.ts';

const age = prepared((db, p: { hash: Uint8Array; seen: number; created: number }) =>
  db
    .updateTable('sessions')
    .set({ last_seen_at: p.seen, created_at: p.created })
    .where('hash', '=', p.hash),
);

const insertRequest = prepared((db, p: { hash: Uint8Array; clientId: string; now: number }) =>
  db.insertInto('authorization_requests').values({
    id: 'waiting',
    session_hash: p.hash,
    client_id: p.clientId,
    response_type: 'code',
    redirect_uri: 'https://app.example.org/cb',
    scope: '',
    show_dialog: 0,
    created_at: p.now,
    expires_at: p.now,
  }),
);

describe('a session', () => {
  let scene: Awaited<ReturnType<typeof openIdentityScene>>;
  let userId: string;
  beforeEach(async () => {
    scene = await openIdentityScene();
    ({ id: userId } = await scene.users.create({ username: 'ada', password: 'long enough' }));
  });
  afterEach(() => scene.dispose());

  const ageBy = (hash: Buffer, idleSeconds: number, oldSeconds = idleSeconds) => {
    const now = Date.now();
    return scene.store.write(
      age({ hash, seen: now - idleSeconds * 1000, created: now - oldSeconds * 1000 }),
    );
  };

  test('is found by its cookie, of which the store knows only the digest', async () => {
    const { cookie, session } = await scene.sessions.logIn(undefined, userId);
    assert.deepEqual(await scene.sessions.find(cookie), session);
    const rows = await scene.store.read.selectFrom('sessions').selectAll().execute();
    assert.ok(
      !JSON.stringify(rows.map((row) => Buffer.from(row.hash).toString('base64url'))).includes(
        cookie,
      ),
    );
    const odd = [undefined, '', 'x', cookie.slice(1), `${cookie}=`, `${cookie} `, '\0'.repeat(43)];
    for (const other of odd) assert.equal(await scene.sessions.find(other), undefined);
  });

  test('gets a new cookie at login, and takes what waits in it along', async () => {
    const before = await scene.sessions.open();
    assert.equal((await scene.sessions.find(before.cookie))?.userId, null);
    const { client } = await new Clients({ ...scene, perUser: 9 }).create(
      { id: userId, username: 'ada' },
      'app',
      {
        description: '',
        callbackUrls: [],
        tier: 'Unlimited',
        flows: new Set(),
        requirePkce: false,
      },
    );
    await scene.store.write(
      insertRequest({ hash: before.session.hash, clientId: client.id, now: Date.now() }),
    );
    const after = await scene.sessions.logIn(before.session, userId);
    const { session_hash: hash } = await scene.store.read
      .selectFrom('authorization_requests')
      .select('session_hash')
      .executeTakeFirstOrThrow();
    assert.deepEqual(Buffer.from(hash), after.session.hash);
    assert.notEqual(after.cookie, before.cookie);
    assert.equal(await scene.sessions.find(before.cookie), undefined);
    assert.equal((await scene.sessions.find(after.cookie))?.userId, userId);
  });

  test('survives a restart, and other processes know it', async () => {
    const { cookie } = await scene.sessions.logIn(undefined, userId);
    const other = await scene.again();
    assert.equal((await other.sessions.find(cookie))?.userId, userId);
  });

  test('ends when it is ended', async () => {
    const { cookie, session } = await scene.sessions.logIn(undefined, userId);
    await scene.sessions.end(session);
    assert.equal(await scene.sessions.find(cookie), undefined);
  });

  test('ends after too long without a visit, and in any case after its lifetime', async () => {
    const { cookie, session } = await scene.sessions.logIn(undefined, userId);
    await ageBy(session.hash, 3500);
    assert.ok(await scene.sessions.find(cookie));
    await ageBy(session.hash, 3700);
    assert.equal(await scene.sessions.find(cookie), undefined);
    await ageBy(session.hash, 10, 86_500);
    assert.equal(await scene.sessions.find(cookie), undefined);
  });

  test('writes a visit down once a minute', async () => {
    const { cookie, session } = await scene.sessions.logIn(undefined, userId);
    const seen = async () =>
      (
        await scene.store.read
          .selectFrom('sessions')
          .select('last_seen_at')
          .where('hash', '=', session.hash)
          .executeTakeFirstOrThrow()
      ).last_seen_at;
    await ageBy(session.hash, 30);
    const before = await seen();
    await scene.sessions.find(cookie);
    await scene.store.write();
    assert.equal(await seen(), before);
    await ageBy(session.hash, 90);
    await scene.sessions.find(cookie);
    await until('the visit to be written down', async () => Date.now() - (await seen()) < 30_000);
  });

  test('is purged when it has run out, and not before', async () => {
    const live = await scene.sessions.logIn(undefined, userId);
    const idle = await scene.sessions.logIn(undefined, userId);
    const old = await scene.sessions.logIn(undefined, userId);
    await ageBy(idle.session.hash, 3700);
    await ageBy(old.session.hash, 10, 90_000);
    await scene.sessions.purge();
    const rows = await scene.store.read.selectFrom('sessions').select('hash').execute();
    assert.deepEqual(
      rows.map(({ hash }) => Buffer.from(hash)),
      [live.session.hash],
    );
  });

  test('is not opened for a user that has been disabled or removed meanwhile', async () => {
    await scene.users.change(userId, { status: 'disabled' });
    const refused = (error: unknown) =>
      error instanceof ServiceError && error.code === 'invalid_credentials';
    const { session, cookie } = await scene.sessions.open();
    await assert.rejects(scene.sessions.logIn(session, userId), refused);
    await assert.rejects(scene.sessions.logIn(undefined, 'nobody'), refused);
    assert.ok(await scene.sessions.find(cookie));
  });
});
