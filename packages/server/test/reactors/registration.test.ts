import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ReactorsCaller, reactorsCaller } from '../harness/reactors-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

/** No registry is there: what is registered ends in ERROR, which does not matter here. */
const image = '127.0.0.1:1/team/tool:1';

let service: RunningService;
let ada: ReactorsCaller;
let admin: ReactorsCaller;

before(async () => {
  service = await startService({
    environment: { REACTORD_SECOND_PREFIX: '_abaco_', REACTORD_EXECUTION_TIME_LIMIT: '1h' },
  });
  ada = await reactorsCaller(service, 'ada');
  admin = await reactorsCaller(service);
});
after(() => service.dispose());

async function refused(json: unknown, status = 400): Promise<string> {
  const reply = await ada.call('POST', '', { json });
  assert.equal(reply.status, status, reply.text);
  const { message, result } = reply.json();
  assert.equal(result, null);
  return message;
}

test('A registration with an image alone is answered 201 with the record and its defaults', async () => {
  const reply = await ada.call('POST', '', { json: { image } });
  assert.equal(reply.status, 201);
  const { status, message, result, version } = reply.json();
  assert.equal(status, 'success');
  assert.equal(message, 'Actor created successfully.');
  assert.equal(typeof version, 'string');
  const { id, createTime, lastUpdateTime, ...rest } = result;
  assert.match(id, /^[0-9A-Za-z]{10,}$/);
  assert.match(createTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(lastUpdateTime, createTime);
  assert.equal(reply.headers.get('location'), `${service.url}/actors/v2/${id}`);
  assert.deepEqual(rest, {
    owner: 'ada',
    name: null,
    description: '',
    image,
    imageDigest: null,
    imageId: null,
    status: 'SUBMITTED',
    statusMessage: '',
    revision: 1,
    defaultEnvironment: {},
    stateless: true,
    maxWorkers: 1,
    memLimit: '512m',
    maxCpus: 1,
    timeout: 3600,
    logEx: 86_400,
    retries: 0,
    token: true,
    hints: [],
    privileged: false,
    registryCredentials: null,
    permissions: { ada: 'UPDATE' },
    link: null,
    webhook: null,
    cronSchedule: null,
    cronOn: false,
    cronNextEx: null,
    cronNextTime: null,
    removeWhenIdle: false,
    type: 'none',
    queue: 'default',
    useContainerUid: false,
    _links: {
      self: `${service.url}/actors/v2/${id}`,
      owner: `${service.url}/profiles/v2/ada`,
      executions: `${service.url}/actors/v2/${id}/executions`,
      messages: `${service.url}/actors/v2/${id}/messages`,
    },
  });
});

test('A registration keeps every field, in either spelling', async () => {
  const given = {
    image,
    name: 'greeter',
    description: 'Says hello\nto everyone',
    defaultEnvironment: { GREETING: 'hällo', EMPTY: '', PATH: '/opt/tool/bin:/bin' },
    stateless: true,
    maxWorkers: 3,
    memLimit: '1g',
    maxCpus: 0.5,
    timeout: 60,
    logEx: 3600,
    token: false,
    hints: ['sync', 'big'],
    type: 'json',
    queue: 'special',
    useContainerUid: true,
    privileged: false,
  };
  const snake = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
  for (const json of [given, snake]) {
    const record = await ada.register(json);
    for (const [name, value] of Object.entries(given)) assert.deepEqual(record[name], value, name);
    assert.deepEqual(await ada.show(record.id).then(({ name, hints }) => [name, hints]), [
      'greeter',
      ['sync', 'big'],
    ]);
  }
});

test('A form registers too, with booleans and numbers as text and repeated hints', async () => {
  const form = [
    `image=${encodeURIComponent(image)}`,
    'name=',
    'stateless=FALSE',
    'token=0',
    'timeout=90',
    'max_cpus=0.25',
    'mem_limit=67108864',
    'hints=one',
    'hints=two',
    `default_environment=${encodeURIComponent('{"A":"b"}')}`,
  ].join('&');
  const reply = await ada.call('POST', '', { form });
  assert.equal(reply.status, 201, reply.text);
  const record = reply.json().result;
  assert.equal(record.name, null);
  assert.equal(record.stateless, false);
  assert.equal(record.token, false);
  assert.equal(record.timeout, 90);
  assert.equal(record.maxCpus, 0.25);
  assert.equal(record.memLimit, '64m');
  assert.deepEqual(record.hints, ['one', 'two']);
  assert.deepEqual(record.defaultEnvironment, { A: 'b' });
});

test('Null stands for a field that is not said', async () => {
  const record = await ada.register({ image, name: null, mem_limit: null, stateless: null });
  assert.equal(record.name, null);
  assert.equal(record.memLimit, '512m');
  assert.equal(record.stateless, true);
});

test('Memory is a size or bytes, cores a number or nanocpus', async () => {
  const memory = { '16m': '16m', '16MB': '16m', '1G': '1g', 33554432: '32m', 33554433: '33554433' };
  for (const [given, shown] of Object.entries(memory)) {
    const value = /^\d+$/.test(given) ? Number(given) : given;
    assert.equal((await ada.register({ image, mem_limit: value })).memLimit, shown);
  }
  for (const [given, shown] of [
    [2, 2],
    [0.01, 0.01],
    ['1.5', 1.5],
    [500_000_000, 0.5],
    [2_000_000_000, 2],
  ]) {
    assert.equal((await ada.register({ image, max_cpus: given })).maxCpus, shown);
  }
});

test('What is missing, unknown or of a wrong kind is refused by its name', async () => {
  assert.match(await refused({}), /^image: is required/);
  assert.match(await refused({ image: null }), /^image: is required/);
  assert.match(await refused({ image, maxWorker: 2 }), /maxWorker.*did you mean max_workers\?/);
  assert.match(await refused({ image, cron_schedule: 'daily' }), /^cron_schedule: /);
  assert.match(await refused({ image, webhook: 'ftp://example.org' }), /^webhook: takes an http/);
  assert.match(await refused({ image, stateless: 'yes' }), /^stateless: takes true or false/);
  assert.match(await refused({ image, timeout: 1.5 }), /^timeout: takes a whole number/);
  assert.match(await refused({ image, hints: 'sync' }), /^hints: takes a list/);
  assert.match(await refused({ image, type: 'xml' }), /^type: takes one of none, bin, json/);
  assert.match(await refused([image]), /The body/);
});

test('What is no image reference is refused', async () => {
  for (const wrong of [
    '',
    ' ',
    'Busybox',
    'busy box',
    '-rm',
    'a:b:c',
    'a@sha256:12',
    '../etc',
    'a/',
    'Team/tool',
  ])
    assert.match(await refused({ image: wrong }), /^image: /, wrong);
  assert.match(await refused({ image: 'a'.repeat(600) }), /^image: /);
});

test('A reactor with state takes one worker', async () => {
  const message = await refused({ image, stateless: false, max_workers: 2 });
  assert.match(message, /^max_workers: takes 1 with stateless=false/);
});

test('Variables are text by names that may be set, and not longer than Linux takes', async () => {
  const environment = (value: unknown) => refused({ image, default_environment: value });
  assert.match(await environment({ COUNT: 3 }), /^default_environment\.COUNT: takes text/);
  assert.match(await environment(['A']), /^default_environment: takes an object/);
  assert.match(await environment('A=b'), /^default_environment: takes an object/);
  assert.match(await environment({ 'A-B': 'c' }), /is not a name for an environment variable/);
  assert.match(await environment({ '': 'c' }), /is not a name for an environment variable/);
  assert.match(await environment({ 'A=B': 'c' }), /is not a name for an environment variable/);
  for (const name of ['_svc_access_token', '_abaco_username', 'MSG', 'LD_PRELOAD'])
    assert.match(await environment({ [name]: 'x' }), new RegExp(`\\.${name}: is reserved`));
  assert.match(await environment({ A: 'a\0b' }), /default_environment\.A: takes text without NUL/);
  assert.match(await environment({ A: '\ud800' }), /default_environment\.A: takes text without/);
  assert.match(await environment({ A: 'x'.repeat(131_072) }), /\.A: is longer than the 128 KiB/);
  const many = Object.fromEntries(
    Array.from({ length: 5 }, (_, number) => [`A${number}`, 'x'.repeat(120_000)]),
  );
  assert.match(await environment(many), /^default_environment: takes at most 512 KiB/);
  const most = 'x'.repeat(131_072 - 'A'.length - 2);
  const record = await ada.register({ image, default_environment: { A: most } });
  assert.equal(record.defaultEnvironment.A, most);
});

test('The caps of the operator hold for users, and not for admins', async () => {
  const above = {
    mem_limit: '5g',
    max_cpus: 4.5,
    max_workers: 17,
    timeout: 3601,
    log_ex: 86_401,
  };
  for (const [field, value] of Object.entries(above)) {
    assert.match(await refused({ image, [field]: value }), new RegExp(`^${field}: takes at most`));
    await admin.register({ image, [field]: value });
  }
  const beyond = { mem_limit: '2048g', max_cpus: 2000, max_workers: 20_000, timeout: 43_201 };
  for (const [field, value] of Object.entries(beyond)) {
    const reply = await admin.call('POST', '', { json: { image, [field]: value } });
    assert.equal(reply.status, 400, field);
  }
  for (const [field, value] of Object.entries({ mem_limit: '1m', max_cpus: 0.001, timeout: 0 }))
    assert.match(await refused({ image, [field]: value }), new RegExp(`^${field}: `));
});

test('Privileged is refused with 403 until the operator allows it', async () => {
  const message = await refused({ image, privileged: true }, 403);
  assert.match(message, /privileged/);
  const open = await startService({ environment: { REACTORD_ALLOW_PRIVILEGED: 'true' } });
  try {
    const caller = await reactorsCaller(open, 'bea');
    assert.equal((await caller.register({ image, privileged: 'true' })).privileged, true);
  } finally {
    await open.dispose();
  }
});

test('Texts for people are bounded and plain', async () => {
  assert.match(await refused({ image, name: 'x'.repeat(257) }), /^name: /);
  assert.match(await refused({ image, name: 'two\nlines' }), /^name: /);
  assert.match(await refused({ image, description: 'x'.repeat(4097) }), /^description: /);
  assert.match(await refused({ image, description: 'a\u0000b' }), /^description: /);
  assert.match(await refused({ image, hints: ['\u202e'] }), /^hints\.0: /);
  assert.match(await refused({ image, queue: 'a b' }), /^queue: /);
});
