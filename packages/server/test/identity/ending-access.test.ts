import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Sessions } from '../../src/identity/sessions.ts';
import { Users } from '../../src/identity/users.ts';
import { besideService, quiet } from '../harness/beside-service.ts';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { ProfilesArea, password } from '../harness/profiles-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { TokenArea } from '../harness/token-area.ts';
import { until } from '../harness/until.ts';

const limits = { session_idle_limit: 3600, session_lifetime: 86_400 };

describe('the access of a user', () => {
  let service: RunningService;
  let admin: ProfilesArea;
  before(async () => {
    service = await startService();
    admin = await ProfilesArea.logIn(service);
  });
  after(() => service.dispose());

  /** A user with a session and tokens of several flows. */
  const settle = async (username: string) => {
    await admin.make(username);
    const area = await TokenArea.open(service, {}, { username, password });
    const grant = { grant_type: 'password', username, password, scope: 'PRODUCTION' };
    const login = await area.granted(grant);
    const exchanged = (await area.exchange(await area.code())).json();
    const standing = await area.accessToken();
    const unused = await area.code();
    const session = await besideService(service, async (store, changes) => {
      const user = await new Users(store, changes).byUsername(username);
      return new Sessions(store, limits, quiet).logIn(undefined, user?.id ?? '');
    });
    const refresh = (refresh_token: string) =>
      area.token({ grant_type: 'refresh_token', refresh_token, scope: 'PRODUCTION' });
    const uses = async (token: string) =>
      (await new ProfilesArea(service, token).call('GET', '/me')).status;
    const hasSession = () =>
      besideService(
        service,
        async (store) =>
          (await new Sessions(store, limits, quiet).find(session.cookie)) !== undefined,
      );
    return { area, grant, login, exchanged, standing, unused, session, refresh, uses, hasSession };
  };

  test('ends completely and at once when an admin disables it, and can begin again', async () => {
    const ada = await settle('ada');
    for (const token of [ada.login, ada.exchanged])
      assert.equal(await ada.uses(token.access_token), 200);
    assert.equal(await ada.hasSession(), true);
    const disabled = await admin.call('PUT', '/ada', { status: 'Inactive' });
    assert.equal(disabled.json().status, 'Inactive');
    for (const token of [ada.login.access_token, ada.exchanged.access_token, ada.standing])
      assert.equal(await ada.uses(token), 401);
    for (const token of [ada.login, ada.exchanged])
      assert.equal((await ada.refresh(token.refresh_token)).json().error, 'invalid_grant');
    assert.equal((await ada.area.exchange(ada.unused)).status, 400);
    assert.equal(await ada.hasSession(), false);
    assert.equal((await ada.area.token(ada.grant)).json().error, 'invalid_grant');
    assert.notEqual((await ada.area.token({ grant_type: 'client_credentials' })).status, 200);
    const clients = new ClientsArea(service, basic('ada', password));
    assert.equal((await clients.call('GET', '')).status, 401);
    const other = await settle('onlooker');
    const looking = new ProfilesArea(service, other.login.access_token);
    assert.equal((await looking.call('GET', '/ada')).status, 404);

    assert.equal((await admin.call('PUT', '/ada', { status: 'Active' })).status, 200);
    assert.equal(await ada.hasSession(), false);
    assert.equal(await ada.uses(ada.login.access_token), 401);
    const again = await ada.area.granted(ada.grant);
    assert.equal(await ada.uses(again.access_token), 200);
  });

  test('by the old password ends when the password changes', async () => {
    const bob = await settle('bob');
    const own = new ProfilesArea(service, bob.login.access_token);
    const wrong = { password: 'a new long password', current_password: 'not it at all' };
    assert.equal((await own.call('PUT', '/me', wrong)).status, 400);
    assert.equal(await bob.uses(bob.login.access_token), 200);
    const right = { ...wrong, current_password: password };
    assert.equal((await own.call('PUT', '/me', right)).status, 200);
    assert.equal(await bob.uses(bob.login.access_token), 401);
    assert.equal(await bob.uses(bob.exchanged.access_token), 401);
    assert.equal((await bob.refresh(bob.login.refresh_token)).json().error, 'invalid_grant');
    assert.equal((await bob.refresh(bob.exchanged.refresh_token)).json().error, 'invalid_grant');
    assert.equal(await bob.hasSession(), false);
    assert.equal((await bob.area.token(bob.grant)).json().error, 'invalid_grant');
    // The client's own token came of its secret, which is the same as before.
    assert.equal(await bob.uses(bob.standing), 200);
    const now = await bob.area.granted({ ...bob.grant, password: right.password });
    assert.equal(await bob.uses(now.access_token), 200);
  });

  test('in the session where the password is changed goes on', async () => {
    const eve = await settle('eve');
    await besideService(service, async (store, changes) => {
      const users = new Users(store, changes);
      const user = await users.byUsername('eve');
      await users.change(user?.id ?? '', {
        password: 'a new long password',
        keepSession: eve.session.session.hash,
      });
    });
    assert.equal(await eve.hasSession(), true);
  });

  test('ends within two seconds when another process disables it', async () => {
    const carl = await settle('carl');
    assert.equal(await carl.uses(carl.login.access_token), 200);
    await besideService(service, async (store, changes) => {
      const users = new Users(store, changes);
      const user = await users.byUsername('carl');
      await users.change(user?.id ?? '', { status: 'disabled' });
    });
    await until(
      'the service to notice',
      async () => (await carl.uses(carl.login.access_token)) === 401,
      2_000,
    );
  });

  test('survives a restart of the service', async () => {
    const dora = await settle('dora');
    service.signal('SIGTERM');
    await service.ended;
    const restarted = await startService({ data: service.data });
    try {
      const area = new ProfilesArea(restarted, dora.login.access_token);
      assert.equal((await area.call('GET', '/me')).status, 200);
      assert.equal(await dora.hasSession(), true);
    } finally {
      restarted.signal('SIGTERM');
      await restarted.ended;
    }
  });
});
