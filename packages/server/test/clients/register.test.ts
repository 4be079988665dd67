import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { adminPassword, type RunningService, startService } from '../harness/running-service.ts';

describe('registering a client', () => {
  let service: RunningService;
  let area: ClientsArea;
  before(async () => {
    service = await startService();
    area = new ClientsArea(service);
  });
  after(() => service.dispose());

  test('answers 201 with the record, the key and the secret under both names', async () => {
    const reply = await area.call('POST', '', {
      form: {
        clientName: 'my_client',
        description: 'Shows my reactors',
        callbackUrl: 'https://app.example.org/cb',
      },
    });
    assert.equal(reply.status, 201);
    assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(reply.headers.get('cache-control'), 'no-store');
    const record = reply.json();
    assert.equal(record.name, 'my_client');
    assert.equal(record.description, 'Shows my reactors');
    assert.equal(record.callbackUrl, 'https://app.example.org/cb');
    assert.deepEqual(record.callbackUrls, ['https://app.example.org/cb']);
    assert.match(record.key, /^[0-9A-Za-z]{28}$/);
    assert.match(record.secret, /^rct_cs_[0-9A-Za-z]{49}$/);
    assert.equal(record.consumerKey, record.key);
    assert.equal(record.consumerSecret, record.secret);
    assert.equal(record.tier, 'Unlimited');
    assert.equal(record.requirePkce, false);
    assert.deepEqual(record._links, {
      self: { href: `${service.url}/clients/v2/my_client` },
      subscriber: { href: `${service.url}/profiles/v2/admin` },
      subscriptions: { href: `${service.url}/clients/v2/my_client/subscriptions` },
    });
    assert.equal(reply.headers.get('location'), record._links.self.href);
  });

  test('needs nothing but a name, in JSON too, with a trailing slash and in the other spelling', async () => {
    const plain = await area.create('only-a-name');
    assert.equal(plain.description, '');
    assert.equal(plain.callbackUrl, '');
    assert.deepEqual(plain.callbackUrls, []);
    const spelled = await area.call('POST', '/', { json: { client_name: 'spelled' } });
    assert.equal(spelled.status, 201, spelled.text);
    const form = await area.call('POST', '//', { form: { client_name: 'spelled.2', tier: '' } });
    assert.equal(form.status, 201, form.text);
    assert.equal(form.json().tier, 'Unlimited');
  });

  test('comes in the envelope with naked=false', async () => {
    const reply = await area.call('POST', '?naked=false', { form: { clientName: 'enveloped' } });
    assert.equal(reply.status, 201);
    assert.equal(reply.json().status, 'success');
    assert.equal(reply.json().message, 'Client created successfully.');
    assert.equal(reply.json().result.name, 'enveloped');
  });

  test('takes a tier in any case and refuses one that does not exist', async () => {
    for (const [given, tier] of [
      ['gold', 'Gold'],
      ['SILVER', 'Silver'],
      ['Bronze', 'Bronze'],
      ['unlimited', 'Unlimited'],
    ]) {
      const record = await area.create(`tier-${given}`, { tier: given });
      assert.equal(record.tier, tier);
    }
    const wrong = await area.call('POST', '', { form: { clientName: 'x', tier: 'Platinum' } });
    assert.equal(wrong.status, 400);
    assert.equal(wrong.json().message, 'tier: takes one of Unlimited, Gold, Silver, Bronze');
  });

  test('takes the flows a client may use, and whether it needs PKCE', async () => {
    const record = await area.create('careful', {
      flows: ['authorization_code'],
      require_pkce: true,
    });
    assert.deepEqual(record.flows, ['authorization_code']);
    assert.equal(record.requirePkce, true);
    const form = await area.call('POST', '', {
      form: { clientName: 'form-flows', flows: ['password', 'device'], requirePkce: '0' },
    });
    assert.deepEqual(form.json().flows, ['password', 'device']);
    const wrong = await area.call('POST', '', {
      form: { clientName: 'wrong-flow', flows: 'execution' },
    });
    assert.equal(wrong.status, 400);
    assert.match(wrong.json().message, /^flows\.0: takes one of authorization_code, implicit/);
    const none = await area.call('POST', '', { json: { clientName: 'no-flow', flows: [] } });
    assert.equal(none.status, 400);
  });

  test('takes names that stand in a path, and finds them there again', async () => {
    const names = [
      'a',
      'my-app.v2',
      '_cli-ada-laptop',
      'My App',
      'x'.repeat(64),
      '0',
      'a..',
      'a--b',
    ];
    for (const name of names) {
      const { _links } = await area.create(name);
      const shown = await area.call('GET', `/${encodeURIComponent(name)}`);
      assert.equal(shown.status, 200, name);
      assert.equal(shown.json().name, name);
      assert.equal(_links.self.href, `${service.url}/clients/v2/${encodeURIComponent(name)}`);
    }
  });

  test('refuses names that do not, and says which do', async () => {
    const hostile = [
      '',
      ' ',
      '.',
      '..',
      '...',
      ' a',
      'a ',
      '-a',
      'a/b',
      'a\\b',
      'a%2fb',
      'a?b',
      'a#b',
      'a\nb',
      'a\r\nX: y',
      'a\0b',
      '\ud800',
      'ä',
      'аdmin',
      'a\u202eb',
      'a\u200bb',
      '<script>',
      "a'b",
      'a"b',
      '../../etc/passwd',
      'x'.repeat(65),
      'x'.repeat(100_000),
    ];
    for (const clientName of hostile) {
      const reply = await area.call('POST', '', { json: { clientName } });
      assert.equal(reply.status, 400, `${clientName.slice(0, 80)}: ${reply.text}`);
      assert.match(reply.json().message, /^clientName: takes 1 to 64 letters, digits/);
    }
    for (const clientName of [null, 5, true, {}, ['a']]) {
      const reply = await area.call('POST', '', { json: { clientName } });
      assert.equal(reply.status, 400, JSON.stringify(clientName));
    }
    const twice = await area.call('POST', '', { form: { clientName: ['a', 'b'] } });
    assert.equal(twice.status, 400);
  });

  test('says what is missing, mistyped or unreadable', async () => {
    const nothing = await area.call('POST', '');
    assert.equal(nothing.status, 400);
    assert.equal(nothing.json().message, 'clientName: is required');
    const typo = await area.call('POST', '', { form: { clientname: 'a' } });
    assert.equal(typo.status, 400);
    assert.match(typo.json().message, /clientname is not a field .*did you mean clientName/);
    const broken = await area.call('POST', '', { headers: { 'content-type': 'application/json' } });
    assert.equal(broken.status, 400);
    const list = await area.call('POST', '', { json: ['a'] });
    assert.equal(list.status, 400);
    const xml = await fetch(`${service.url}/clients/v2`, {
      method: 'POST',
      body: '<client/>',
      headers: { authorization: basic('admin', adminPassword), 'content-type': 'text/xml' },
    });
    assert.equal(xml.status, 415);
  });

  test('refuses a description that cannot be kept or shown', async () => {
    for (const description of ['a\0b', '\udfff', 'a\u202eb', 'a\u001b[31m', 'x'.repeat(1001), 7]) {
      const reply = await area.call('POST', '', { json: { clientName: 'described', description } });
      assert.equal(reply.status, 400, JSON.stringify(description).slice(0, 40));
      assert.match(reply.json().message, /^description: takes up to 1000 characters/);
    }
    const words = 'Zwei Zeilen\nund 🚀 <b>';
    assert.equal((await area.create('described', { description: words })).description, words);
  });

  test('refuses a name that its user has already, with regard to case', async () => {
    await area.create('taken');
    const again = await area.call('POST', '', { form: { clientName: 'taken' } });
    assert.equal(again.status, 409);
    assert.equal(
      again.json().message,
      'There is a client called taken already. Choose another name.',
    );
    assert.equal((await area.call('POST', '', { form: { clientName: 'Taken' } })).status, 201);
  });

  test('of one name fifty times at once succeeds once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => area.call('POST', '', { form: { clientName: 'wanted' } })),
    );
    const statuses = replies.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array.from({ length: 49 }, () => 409)]);
  });
});

test('a user may have as many clients as the operator says, also when they come at once', async (t) => {
  const service = await startService({ environment: { REACTORD_CLIENTS_PER_USER: '5' } });
  t.after(service.dispose);
  const area = new ClientsArea(service);
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      area.call('POST', '', { form: { clientName: `client-${number}` } }),
    ),
  );
  assert.equal(replies.filter(({ status }) => status === 201).length, 5);
  const refused = replies.filter(({ status }) => status === 409);
  assert.equal(refused.length, 15);
  assert.match(refused[0]?.json().message, /^You have 5 clients, which is as many .* Delete one/);
  const [first] = (await area.call('GET', '')).json();
  assert.equal((await area.call('DELETE', `/${first.name}`)).status, 200);
  await area.create('room-again');
});
