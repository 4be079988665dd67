import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser } from '../harness/browser.ts';
import { startService } from '../harness/running-service.ts';

test('more logins than passwords can be checked get a page that says so, and nobody a 500', async (t) => {
  // Behind a trusted proxy each attempt comes from an address of its own, so that no other limit is met first.
  const service = await startService({ environment: { REACTORD_TRUST_PROXY: '127.0.0.1' } });
  t.after(() => service.dispose());
  const browser = new Browser(service.url);
  t.after(() => browser.close());
  const form = (await browser.get('/login')).form('/login');
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, attempt) =>
      browser.post(
        form.action,
        { ...form.fields, username: `user-${attempt}`, password: 'a guess' },
        { 'x-forwarded-for': `198.51.100.${attempt}` },
      ),
    ),
  );
  const busy = replies.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0, 'the queue was full');
  for (const reply of busy) {
    assert.equal(reply.headers['retry-after'], '1');
    assert.match(reply.text, /The service is busy\. Try again in a moment\./);
    assert.equal(reply.form('/login').action, '/login');
  }
  assert.deepEqual([...new Set(replies.map(({ status }) => status))].sort(), [403, 503]);
});
