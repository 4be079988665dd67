import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ProfilesArea, password } from '../harness/profiles-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

const compactKeys = [
  'create_time',
  'email',
  'first_name',
  'full_name',
  'last_name',
  'mobile_phone',
  'phone',
  'status',
  'uid',
  'username',
];
const fullKeys = [
  'email',
  'firstName',
  'lastName',
  'position',
  'institution',
  'phone',
  'fax',
  'researchArea',
  'department',
  'city',
  'state',
  'country',
  'gender',
  '_links',
];

describe('a profile', () => {
  let service: RunningService;
  let admin: ProfilesArea;
  let ada: ProfilesArea;
  let bob: ProfilesArea;
  before(async () => {
    service = await startService();
    admin = await ProfilesArea.logIn(service);
    await admin.make('ada', {
      email: 'ada@example.org',
      first_name: 'Ada',
      last_name: 'Lovelace',
      phone: '+44 1',
      institution: 'Analytical Engine',
    });
    await admin.make('bob');
    ada = await ProfilesArea.logIn(service, 'ada', password);
    bob = await ProfilesArea.logIn(service, 'bob', password);
  });
  after(() => service.dispose());

  test('with pretty and naked is exactly the compact record', async () => {
    const { status, text, json } = await ada.call('GET', '/me?pretty=true&naked=true');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json()).sort(), compactKeys);
    assert.deepEqual(json(), {
      create_time: json().create_time,
      email: 'ada@example.org',
      first_name: 'Ada',
      full_name: 'Ada Lovelace',
      last_name: 'Lovelace',
      mobile_phone: '',
      phone: '+44 1',
      status: 'Active',
      uid: 1002,
      username: 'ada',
    });
    assert.match(json().create_time, /^20\d{12}Z$/);
    assert.match(text, /^\{\n {2}"create_time"/);
    assert.deepEqual((await ada.call('GET', '/me?pretty&naked')).json(), json());
  });

  test('otherwise has the fields of both shapes, bare, with links', async () => {
    for (const query of ['', '?pretty=true', '?naked=true']) {
      const record = (await ada.call('GET', `/me${query}`)).json();
      for (const key of [...compactKeys, ...fullKeys]) assert.ok(key in record, `${key} ${query}`);
      assert.equal(record.institution, 'Analytical Engine');
      assert.equal(record.city, null);
      assert.deepEqual(record._links, {
        self: { href: `${service.url}/profiles/v2/ada` },
        users: { href: `${service.url}/profiles/v2` },
      });
    }
    const enveloped = (await ada.call('GET', '/me?naked=false')).json();
    assert.equal(enveloped.status, 'success');
    assert.equal(enveloped.result.username, 'ada');
  });

  test('is whole for its owner and admins, and a name for others', async () => {
    assert.equal((await ada.call('GET', '/ada')).json().email, 'ada@example.org');
    assert.equal((await admin.call('GET', '/ada')).json().email, 'ada@example.org');
    const seen = (await bob.call('GET', '/ada?pretty&naked')).json();
    assert.deepEqual(Object.keys(seen).sort(), [
      '_links',
      'firstName',
      'first_name',
      'full_name',
      'lastName',
      'last_name',
      'username',
    ]);
  });

  test('is 404 for names that nobody has, exactly as written', async () => {
    const names = ['nobody', 'ADA', 'Me', '%00', 'a%2Fb', '%F0%9F%98%80', 'a'.repeat(200), '..%2f'];
    for (const name of names) {
      assert.equal((await admin.call('GET', `/${name}`)).status, 404, name);
    }
  });

  test('needs a token', async () => {
    assert.equal((await fetch(`${service.url}/profiles/v2/me`)).status, 401);
  });

  test('never shows a password or its hash, and is not cached', async () => {
    const reply = await admin.call('GET', '?naked=false');
    assert.doesNotMatch(reply.text, /argon2|password/);
    assert.equal(reply.headers.get('cache-control'), 'no-store');
  });

  test('is changed by its owner without losing what was not sent', async () => {
    const before = (await ada.call('GET', '/me')).json();
    const sent = { city: 'London', research_area: 'Notes', mobilePhone: '+44 2', first_name: 'A.' };
    const changed = await ada.call('PUT', '/me', sent);
    assert.equal(changed.status, 200, changed.text);
    const after = (await ada.call('GET', '/me')).json();
    assert.deepEqual(after, {
      ...before,
      city: 'London',
      researchArea: 'Notes',
      mobile_phone: '+44 2',
      first_name: 'A.',
      firstName: 'A.',
      full_name: 'A. Lovelace',
    });
    assert.deepEqual(changed.json(), after);
    const form = await ada.call('PUT', '/ada', new URLSearchParams({ city: '', fax: '5' }));
    assert.equal(form.json().city, null);
    assert.equal(form.json().fax, '5');
    assert.equal(form.json().researchArea, 'Notes');
  });

  test('can be sent back as it was read, in either shape, with changes in either spelling', async () => {
    const full = (await ada.call('GET', '/me')).json();
    const first = await ada.call('PUT', '/me', { ...full, firstName: 'Augusta' });
    assert.equal(first.status, 200, first.text);
    assert.equal(first.json().first_name, 'Augusta');
    const compact = (await ada.call('GET', '/me?pretty&naked')).json();
    const second = await ada.call('PUT', '/me?pretty&naked', { ...compact, first_name: 'Ada' });
    assert.equal(second.status, 200, second.text);
    assert.equal(second.json().full_name, 'Ada Lovelace');
    const both = await ada.call('PUT', '/me', { first_name: 'One', firstName: 'Two' });
    assert.equal(both.status, 400);
  });

  test('lets nobody change what is fixed, and only admins change rights', async () => {
    for (const fixed of [
      { uid: 1 },
      { username: 'eve' },
      { create_time: '2' },
      { full_name: 'X' },
    ]) {
      const reply = await ada.call('PUT', '/me', fixed);
      assert.equal(reply.status, 400, JSON.stringify(fixed));
      assert.match(reply.json().message, new RegExp(Object.keys(fixed)[0] ?? ''));
    }
    for (const right of [{ roles: ['admin'] }, { grants: ['reactors'] }, { status: 'Inactive' }]) {
      assert.equal((await ada.call('PUT', '/me', right)).status, 403, JSON.stringify(right));
    }
    assert.equal((await bob.call('PUT', '/ada', { city: 'X' })).status, 403);
    assert.equal((await bob.call('PUT', '/nobody', { city: 'X' })).status, 403);
    assert.deepEqual((await ada.call('GET', '/me')).json().roles, []);
  });

  test('keeps every change when many are made at once', async () => {
    const fields = ['position', 'institution', 'fax', 'department', 'city', 'state', 'country'];
    const replies = await Promise.all(
      fields.map((field) => bob.call('PUT', '/me', { [field]: `new ${field}` })),
    );
    assert.deepEqual(
      replies.map((reply) => reply.status),
      fields.map(() => 200),
    );
    const record = (await bob.call('GET', '/me')).json();
    for (const field of fields) assert.equal(record[field], `new ${field}`);
  });

  test('refuses what cannot be kept, by the name of the field', async () => {
    const wrong: [string, unknown][] = [
      ['city', 'x'.repeat(257)],
      ['city', 'a\u0000b'],
      ['city', '\ud800'],
      ['city', 7],
      ['city', ['a']],
      ['city', { a: 1 }],
      ['email', 'no address'],
      ['email', 'a@b\r\nBcc: c@d'],
      ['roles', 'admin'],
      ['roles', ['root']],
      ['status', 'gone'],
      ['password', 5],
      ['nonsense', 'x'],
      ['__proto__x', 'x'],
    ];
    for (const [field, value] of wrong) {
      const reply = await admin.call('PUT', '/bob', { [field]: value });
      assert.equal(reply.status, 400, `${field} ${JSON.stringify(value)} ${reply.text}`);
      assert.match(reply.json().message, new RegExp(field));
    }
    for (const body of [[], 'text', 5, null]) {
      assert.equal((await ada.call('PUT', '/me', body)).status, 400, JSON.stringify(body));
    }
    assert.equal((await ada.call('PUT', '/me', { city: 'x'.repeat(2_000_000) })).status, 413);
  });

  test('keeps text of any language', async () => {
    const city = 'Łódź 東京 😀';
    assert.equal((await ada.call('PUT', '/me', { city })).json().city, city);
  });
});
