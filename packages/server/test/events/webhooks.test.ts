import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';
import { openReceiver, type Received, type WebhookReceiver } from '../harness/webhook-receiver.ts';

let scene: Scene;
let receiver: WebhookReceiver;
const environment = {
  REACTORD_WEBHOOK_ALLOW: '127.0.0.1',
  REACTORD_WEBHOOK_PAUSE: '1s',
  REACTORD_WEBHOOK_ATTEMPTS: '3',
  REACTORD_WEBHOOK_TIMEOUT: '1s',
};

before(async () => {
  receiver = await openReceiver();
  scene = await openScene({ environment });
});
after(async () => {
  await scene.dispose();
  await receiver.close();
});

const register = (path: string, program = 'true') =>
  scene.admin.register({
    image: scene.image.reference,
    default_environment: { RUN: program },
    webhook: `${receiver.url}${path}`,
  });

const at = (path: string): Received[] =>
  receiver.received.filter((received) => received.path === path);

const types = (path: string): string[] => at(path).map(({ event }) => event.event_type);

const deliveries = async (id: string) =>
  (await scene.admin.call('GET', `/${id}/deliveries`)).json().result;

test('a webhook hears of the reactor and of each execution, signed and in order', async () => {
  const id = await register('/all', 'exit 3');
  const { id: execution } = await scene.admin.runOnce(id);
  await until('three calls', () => at('/all').length === 3);
  assert.deepEqual(types('/all'), ['ACTOR_READY', 'EXECUTION_STARTED', 'EXECUTION_COMPLETE']);
  const { headers, body, event } = at('/all')[2] ?? assert.fail();
  assert.deepEqual(
    { ...event, event_time_utc: '', event_time_display: '' },
    {
      tenant_id: 'LOCAL',
      actor_id: id,
      actor_dbid: `LOCAL_${id}`,
      event_type: 'EXECUTION_COMPLETE',
      event_time_utc: '',
      event_time_display: '',
      execution_id: execution,
      status: 'COMPLETE',
      exit_code: 3,
      status_message: '',
    },
  );
  assert.match(event.event_time_utc, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const { secret } = (await scene.admin.call('GET', `/${id}/webhook-secret`)).json().result;
  assert.ok(signaturesOf(headers).includes(signed(secret, headers, body)));
  await until('the deliveries to be noted', async () =>
    (await deliveries(id)).every(
      (entry: { status: string; lastResponseCode: number; attempts: number }) =>
        entry.status === 'DELIVERED' && entry.lastResponseCode === 204 && entry.attempts === 1,
    ),
  );
});

test('a call that fails is made again with the same id; one that fails too often is given up', async () => {
  const id = await register('/flaky');
  await until('the first call', () => at('/flaky').length === 1);
  receiver.answers.push(500, 204);
  const posted = await scene.admin.send(id);
  await scene.admin.ended(id, posted);
  await until('a repeated call', () => at('/flaky').length === 4);
  const [, started, complete, again] = at('/flaky');
  assert.deepEqual(
    [started?.event.event_type, complete?.event.event_type, again?.event.event_type],
    ['EXECUTION_STARTED', 'EXECUTION_COMPLETE', 'EXECUTION_STARTED'],
  );
  assert.equal(again?.headers['webhook-id'], started?.headers['webhook-id']);

  // A redirect is not followed, and an answer that does not come is not waited for.
  receiver.answers.push(204, 302, 'hang', 503);
  await scene.admin.runOnce(id);
  const failed = await until('it to be given up', async () =>
    (await deliveries(id)).find(({ status }: { status: string }) => status === 'FAILED'),
  );
  assert.deepEqual([failed.attempts, failed.lastResponseCode], [3, 503]);
  assert.equal(failed.eventType, 'EXECUTION_COMPLETE');
  assert.equal(at('/elsewhere').length, 0);

  const calls = at('/flaky').length;
  const reply = await scene.admin.call('POST', `/${id}/deliveries/${failed.id}`);
  assert.equal(reply.status, 200, reply.text);
  await until('the call by hand', () => at('/flaky').length === calls + 1);
  await until('it to have arrived', async () =>
    (await deliveries(id)).every(({ status }: { status: string }) => status === 'DELIVERED'),
  );
  const unknown = await scene.admin.call('POST', `/${id}/deliveries/999999W`);
  assert.equal(unknown.status, 404);
});

test('a replaced key signs beside the one before, and only those who may change the reactor see it', async () => {
  const id = await register('/rotated');
  const before = (await scene.admin.call('GET', `/${id}/webhook-secret`)).json().result;
  const now = (await scene.admin.call('POST', `/${id}/webhook-secret`)).json().result;
  assert.notEqual(now.secret, before.secret);
  assert.notEqual(now.overlapUntil, null);
  await scene.admin.runOnce(id);
  await until('three calls', () => at('/rotated').length === 3);
  const { headers, body } = at('/rotated')[2] ?? assert.fail();
  assert.deepEqual(signaturesOf(headers), [
    signed(now.secret, headers, body),
    signed(before.secret, headers, body),
  ]);
  const other = await scene.user('keyless');
  assert.equal((await other.call('GET', `/${id}/webhook-secret`)).status, 404);
  assert.ok(!scene.service.output().includes(now.secret));
});

test('addresses of the machine and of private networks are refused, by number and by name', async () => {
  const refused = [
    'http://10.0.0.1/',
    'http://169.254.169.254/latest',
    'http://[::1]:80/',
    'http://[::ffff:10.0.0.1]/',
    'http://[fd00::1]/',
    'http://192.168.1.1:8080/',
    'http://0.0.0.0/',
    'http://0x7f000002/',
    'http://2130706434/',
    'ftp://example.org/',
    'http://user:secret@example.org/',
    'nonsense',
  ];
  for (const webhook of refused) {
    const reply = await scene.admin.call('POST', '', {
      body: JSON.stringify({ image: scene.image.reference, webhook }),
      type: 'application/json',
    });
    assert.equal(reply.status, 400, webhook);
    assert.match(reply.json().message, /^webhook: /);
  }
});

test('purged messages are told of, each', async () => {
  const id = await register('/purged', 'sleep 60');
  const first = await scene.admin.send(id);
  await scene.admin.running(id, first);
  const waiting = [await scene.admin.send(id), await scene.admin.send(id)];
  const purged = await scene.admin.call('DELETE', `/${id}/messages`);
  assert.equal(purged.json().result.dropped, 2);
  await until('four calls', () => at('/purged').length === 4);
  const dropped = at('/purged').slice(2);
  assert.deepEqual(
    dropped.map(({ event }) => [event.event_type, event.execution_id]),
    waiting.map((execution) => ['EXECUTION_ERROR', execution]),
  );
  assert.match(dropped[0]?.event.status_message, /purged the inbox/);
  await scene.admin.call('DELETE', `/${id}`);
  await until('the end of the one that ran', () => at('/purged').length === 5);
  assert.equal(at('/purged')[4]?.event.event_type, 'EXECUTION_COMPLETE');
});

test('what could not be delivered before a kill is delivered after it', async () => {
  const id = await register('/killed');
  await until('the first call', () => at('/killed').length === 1);
  receiver.answers.push('hang', 'hang', 'hang');
  await scene.admin.runOnce(id);
  await until('a call that hangs', () => at('/killed').length === 2);
  await scene.restart('SIGKILL');
  await until('all deliveries', async () =>
    (await deliveries(id)).every(({ status }: { status: string }) => status === 'DELIVERED'),
  );
  const ids = new Set(at('/killed').map(({ headers }) => headers['webhook-id']));
  assert.equal(ids.size, 3);
});

const signaturesOf = (headers: Received['headers']): string[] =>
  String(headers['webhook-signature']).split(' ');

function signed(secret: string, headers: Received['headers'], body: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}
