import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ClientsArea } from '../harness/clients-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

describe('the callback addresses of a client', () => {
  let service: RunningService;
  let area: ClientsArea;
  before(async () => {
    service = await startService();
    area = new ClientsArea(service);
    await area.create('app');
  });
  after(() => service.dispose());

  const put = (json: unknown) => area.call('PUT', '/app', { json });

  test('are kept byte for byte', async () => {
    const exact = [
      'https://app.example.org',
      'https://app.example.org/',
      'https://APP.example.org:443/CB/../cb?x=1&y=%7e',
      'HTTPS://app.example.org/cb',
      'https://app.example.org/cb?next=%2Fhome&codes=1',
      'https://xn--bcher-kva.example/cb',
      'https://[2001:db8::1]:8443/cb',
      'http://localhost/cb',
      'http://localhost:3000/cb',
      'http://127.0.0.1:8400/cb',
      'http://127.1.2.3/cb',
      'http://[::1]:5000/cb',
      'com.example.app:/cb',
      'com.example.app://host/cb?x=1',
      'myapp://callback',
    ];
    for (const url of exact) {
      const reply = await put({ callbackUrl: url });
      assert.equal(reply.status, 200, `${url}: ${reply.text}`);
      assert.equal(reply.json().callbackUrl, url);
      assert.equal((await area.call('GET', '/app')).json().callbackUrl, url);
    }
  });

  test('are refused where they could send a code astray', async () => {
    const wrong: readonly (readonly [url: string, why: RegExp])[] = [
      ['/cb', /absolute/],
      ['//app.example.org/cb', /absolute/],
      ['app.example.org/cb', /absolute/],
      ['https:', /absolute/],
      ['https:app.example.org', /host/],
      ['https:/app.example.org', /host/],
      ['https:///app.example.org', /host/],
      ['https://', /valid|host/],
      ['https://:443/cb', /valid|host/],
      ['https://app.example.org:99999/cb', /valid/],
      ['https://a%2eb/cb', /host/],
      ['https://app.example.org/cb#', /fragment/],
      ['https://app.example.org/cb#x', /fragment/],
      ['com.example.app:/cb#x', /fragment/],
      ['https://user@app.example.org/cb', /username/],
      ['https://user:pw@app.example.org/cb', /username/],
      ['https://app.example.org@evil.example/cb', /username/],
      ['https://@app.example.org/cb', /username/],
      ['com.example.app://user@host/cb', /username/],
      ['javascript:alert(1)', /scheme javascript/],
      ['JavaScript:alert(1)', /scheme javascript/],
      ['javascript://app.example.org/%0aalert(1)', /scheme javascript/],
      ['data:text/html,x', /scheme data/],
      ['vbscript:x', /scheme vbscript/],
      ['file:///etc/passwd', /scheme file/],
      ['blob:https://app.example.org/1', /scheme blob/],
      ['http://app.example.org/cb', /https/],
      ['http://localhost.evil.example/cb', /https/],
      ['http://127.0.0.1.evil.example/cb', /https/],
      ['http://0x7f000001/cb', /https/],
      ['http://10.0.0.1/cb', /https/],
      ['https://app.example.org/cb?code=1', /query parameter code/],
      ['https://app.example.org/cb?x=1&state=2', /query parameter state/],
      ['https://app.example.org/cb?access_token', /query parameter access_token/],
      ['https://app.example.org/cb?error=', /query parameter error/],
      ['https://app.example.org/cb?%69ss=x', /query parameter iss/],
      ['com.example.app:/cb?c%6Fde=1', /query parameter code/],
      ['https://app.example.org/a b', /character/],
      [' https://app.example.org/', /character/],
      ['https://app.example.org/\t', /character/],
      ['https://app.example.org/\r\nSet-Cookie: a=b', /character/],
      ['https://app.example.org\\@evil.example/', /character/],
      ['https://bücher.example/cb', /character/],
      ['https://app.example.org/%zz', /character/],
      ['https://app.example.org/\0', /character/],
      ['https://app.example.org/\ud800', /character/],
      ['https://app.example.org/<script>', /character/],
      [`https://app.example.org/${'x'.repeat(2048)}`, /longer than 2048/],
    ];
    const before = (await area.call('GET', '/app')).text;
    for (const [url, why] of wrong) {
      const reply = await put({ callbackUrl: url });
      assert.equal(reply.status, 400, `${JSON.stringify(url).slice(0, 80)}: ${reply.text}`);
      assert.match(reply.json().message, /^callbackUrl: /);
      assert.match(reply.json().message, why, url.slice(0, 80));
    }
    assert.equal((await area.call('GET', '/app')).text, before);
  });

  test('may be several: a repeated field, a list, or callbackUrls', async () => {
    const urls = ['https://a.example.org/cb', 'http://localhost:3000/cb'];
    const given = [
      { form: { clientName: 'repeated', callbackUrl: urls } },
      { form: { client_name: 'repeated-2', callback_urls: urls } },
      { json: { clientName: 'listed', callbackUrl: urls } },
      { json: { clientName: 'listed-2', callbackUrls: [...urls, ...urls] } },
      { json: { clientName: 'both', callbackUrl: urls[1], callbackUrls: urls } },
    ];
    for (const sent of given) {
      const reply = await area.call('POST', '', sent);
      assert.equal(reply.status, 201, reply.text);
      assert.equal(reply.json().callbackUrl, urls[0]);
      assert.deepEqual(reply.json().callbackUrls, urls);
    }
    const one = await area.call('POST', '', {
      form: { clientName: 'single', callbackUrls: 'https://a.example.org/cb' },
    });
    assert.deepEqual(one.json().callbackUrls, ['https://a.example.org/cb']);
  });

  test('are not guessed when callbackUrl and callbackUrls disagree', async () => {
    const reply = await put({
      callbackUrl: 'https://new.example.org/cb',
      callbackUrls: ['https://old.example.org/cb'],
    });
    assert.equal(reply.status, 400);
    assert.match(reply.json().message, /^callbackUrl: is not among callbackUrls/);
  });

  test('are at most twenty, and each is checked', async () => {
    const many = Array.from({ length: 21 }, (_, place) => `https://a.example.org/${place}`);
    assert.equal((await put({ callbackUrls: many.slice(1) })).status, 200);
    const tooMany = await put({ callbackUrls: many });
    assert.equal(tooMany.status, 400);
    assert.equal(tooMany.json().message, 'callbackUrls: takes at most 20 addresses');
    const last = await put({ callbackUrls: ['https://a.example.org/', 'javascript:1'] });
    assert.equal(last.status, 400);
    for (const callbackUrls of [5, { a: 1 }, [null], [['https://a.example.org']]])
      assert.equal((await put({ callbackUrls })).status, 400, JSON.stringify(callbackUrls));
  });

  test('can be taken away again', async () => {
    await put({ callbackUrl: 'https://a.example.org/cb' });
    const emptied = await area.call('PUT', '/app', { form: { callbackUrl: '' } });
    assert.equal(emptied.status, 200);
    assert.equal(emptied.json().callbackUrl, '');
    assert.deepEqual(emptied.json().callbackUrls, []);
  });
});

test('callback addresses may be http everywhere when the operator allows http', async (t) => {
  const service = await startService({ environment: { REACTORD_ALLOW_HTTP: 'true' } });
  t.after(service.dispose);
  const area = new ClientsArea(service);
  await area.create('lab', { callbackUrl: 'http://lab.example.org/cb' });
});
