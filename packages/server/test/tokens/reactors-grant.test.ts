import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callerOf } from '../../src/contract/caller.ts';
import { openProbeApp } from '../harness/probe-app.ts';

test('the reactors area needs the grant of the user besides the token', async (t) => {
  const { app, identity, oauth, dispose } = await openProbeApp((probe) => {
    probe.get('/probe', { config: { access: { api: 'Actors' } } }, async (request) => ({
      username: callerOf(request).username,
    }));
  });
  t.after(dispose);
  const user = await identity.users.create({ username: 'ada', password: 'her own long password' });
  const { client } = await oauth.clients.create(user, 'app', {
    description: '',
    callbackUrls: [],
    tier: 'Unlimited',
    flows: new Set(['client_credentials']),
    requirePkce: false,
  });
  const { accessToken } = await oauth.tokens.issue({
    client,
    userId: user.id,
    flow: 'client_credentials',
    scope: 'PRODUCTION',
    refresh: false,
  });
  const call = () =>
    app.inject({ url: '/probe', headers: { authorization: `Bearer ${accessToken}` } });
  const refused = await call();
  assert.equal(refused.statusCode, 403);
  assert.equal(refused.json().fault.code, 900908);
  assert.match(refused.json().message, /ada has no permission for the reactors area/);
  await identity.users.change(user.id, { grants: ['reactors'] });
  assert.equal((await call()).statusCode, 200);
  await identity.users.change(user.id, { grants: [] });
  assert.equal((await call()).statusCode, 403);
});
