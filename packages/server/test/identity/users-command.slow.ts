import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { ProfilesArea } from '../harness/profiles-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

async function reactord(data: string, words: readonly string[], input = '') {
  const child = spawn(process.execPath, [entry, ...words], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      REACTORD_DATA: data,
    },
    cwd: tmpdir(),
  });
  const output: string[] = [];
  const errors: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  child.stdin.on('error', () => {}).end(input);
  const [code] = await once(child, 'close');
  return { code, output: output.join(''), errors: errors.join('') };
}

describe('reactord users', () => {
  let service: RunningService;
  before(async () => {
    service = await startService();
  });
  after(() => service.dispose());

  const users = (...words: string[]) => reactord(service.data, ['users', ...words]);
  const withInput = (input: string, ...words: string[]) =>
    reactord(service.data, ['users', ...words], input);

  test('makes a user that can log in to the running service, with the password from standard input', async () => {
    const made = await withInput(
      'a long password\n',
      ...['add', 'ada', '--email', 'ada@example.org', '--first-name=Ada', '--grant', 'reactors'],
    );
    assert.deepEqual(made, { code: 0, output: 'ada is a user now, with uid 1002.\n', errors: '' });
    const ada = await ProfilesArea.logIn(service, 'ada', 'a long password');
    const record = (await ada.call('GET', '/me')).json();
    assert.deepEqual(
      [record.email, record.first_name, record.grants],
      ['ada@example.org', 'Ada', ['reactors']],
    );
  });

  test('generates a password and prints it once', async () => {
    const { code, output } = await users('add', 'bob', '--generate', '--role', 'admin');
    assert.equal(code, 0);
    const password = /^Password: (\S{23})$/m.exec(output)?.[1] ?? '';
    const bob = await ProfilesArea.logIn(service, 'bob', password);
    assert.equal((await bob.call('GET', '')).status, 200);
    const renewed = await users('passwd', 'bob', '--generate');
    const next = /^Password: (\S{23})$/m.exec(renewed.output)?.[1] ?? '';
    assert.notEqual(next, password);
    assert.equal(
      (await new ClientsArea(service, basic('bob', password)).call('GET', '')).status,
      401,
    );
    assert.equal((await new ClientsArea(service, basic('bob', next)).call('GET', '')).status, 200);
  });

  test('lists everyone, for people and as JSON', async () => {
    const table = await users('list');
    assert.equal(table.code, 0);
    assert.match(
      table.output,
      /^UID +USERNAME +STATUS +ROLES +GRANTS +NAME +EMAIL\n1001 +admin +Active +admin +reactors/,
    );
    const listed = JSON.parse((await users('list', '--json')).output);
    assert.equal(listed[0].username, 'admin');
    assert.equal(JSON.parse((await users('show', 'admin', '--json')).output).uid, 1001);
    assert.doesNotMatch((await users('list', '--json')).output, /argon2|password/);
  });

  test('disables and enables a user; the running service notices within two seconds', async () => {
    await withInput('a long password\n', 'add', 'carl');
    const carl = await ProfilesArea.logIn(service, 'carl', 'a long password');
    assert.equal((await carl.call('GET', '/me')).status, 200);
    assert.equal((await users('disable', 'carl')).code, 0);
    const refused = async () => (await carl.call('GET', '/me')).status === 401;
    await until('the service to notice', refused, 2_000);
    const login = new ClientsArea(service, basic('carl', 'a long password'));
    assert.equal((await login.call('GET', '')).status, 401);
    assert.equal((await users('enable', 'carl')).code, 0);
    assert.equal((await login.call('GET', '')).status, 200);
  });

  test('gives and takes grants and roles', async () => {
    await withInput('a long password\n', 'add', 'dora');
    const dora = async () => JSON.parse((await users('show', 'dora', '--json')).output);
    assert.equal(
      (await users('grant', 'dora', 'reactors')).output,
      'dora has the grant reactors.\n',
    );
    assert.equal((await users('role', 'dora', 'admin')).code, 0);
    assert.deepEqual([(await dora()).grants, (await dora()).roles], [['reactors'], ['admin']]);
    assert.equal((await users('revoke-grant', 'dora', 'reactors')).code, 0);
    assert.equal((await users('revoke-role', 'dora', 'admin')).code, 0);
    assert.deepEqual([(await dora()).grants, (await dora()).roles], [[], []]);
    assert.equal((await users('remove', 'dora')).code, 0);
    assert.equal((await users('show', 'dora')).code, 1);
  });

  test('says in one sentence what cannot be done, and ends with 1', async () => {
    const cases: [string[], string, RegExp][] = [
      [['add', 'Admin'], 'a long password\n', /a user called admin already/],
      [['add', 'a b'], 'a long password\n', /^reactord: username: takes/],
      [['add', 'me'], 'a long password\n', /^reactord: username: takes/],
      [['add', 'new'], 'short\n', /^reactord: password: takes at least 8/],
      [['add', 'new'], '', /no password in its first line/],
      [['add', 'new', '--email', 'x'], 'a long password\n', /^reactord: email: takes/],
      [['grant', 'admin', 'everything'], '', /^reactord: grants: takes a list of: reactors/],
      [['disable', 'nobody'], '', /no user called nobody/],
    ];
    for (const [words, input, sentence] of cases) {
      const { code, output, errors } = await withInput(input, ...words);
      assert.deepEqual([code, output], [1, ''], words.join(' '));
      assert.match(errors, sentence);
      assert.equal(errors.split('\n').length, 2, errors);
    }
    for (const { username, roles } of JSON.parse((await users('list', '--json')).output)) {
      if (username !== 'admin' && roles.includes('admin'))
        await users('revoke-role', username, 'admin');
    }
    for (const words of [
      ['disable', 'admin'],
      ['revoke-role', 'admin', 'admin'],
      ['remove', 'admin'],
    ]) {
      const { code, errors } = await users(...words);
      assert.equal(code, 1);
      assert.match(errors, /admin is the last active admin/);
    }
  });

  test('says what is wrong with the command line, and ends with 2', async () => {
    const cases: [string[], RegExp][] = [
      [['users'], /Which command\?/],
      [['users', 'lst'], /no command "lst", did you mean list\?/],
      [['users', 'add'], /reactord users add NAME/],
      [['users', 'add', 'a', 'b'], /reactord users add NAME/],
      [['users', 'list', '--nonsense'], /--nonsense/],
      [['users', 'list', '--generate'], /list does not take --generate/],
      [['users', 'add', 'x', '--password=secret'], /never an argument/],
      [['users', 'add', 'x', '--password', 'secret'], /never an argument/],
      [['users', 'list', '--database', 'mysql://x'], /--database is not allowed/],
      [['nonsense'], /no command "nonsense"; there are serve, worker, users, backup and doctor/],
    ];
    for (const [words, sentence] of cases) {
      const { code, output, errors } = await reactord(service.data, words);
      assert.deepEqual([code, output], [2, ''], words.join(' '));
      assert.match(errors, sentence);
      assert.doesNotMatch(errors, /secret/);
    }
  });

  test('explains itself', async () => {
    for (const words of [
      ['users', '--help'],
      ['users', 'help'],
      ['users', 'add', '-h'],
    ]) {
      const { code, output } = await reactord(service.data, words);
      assert.equal(code, 0);
      assert.match(output, /^Usage: reactord users COMMAND/);
    }
  });
});

describe('reactord users on a folder without a running service', () => {
  test('works on what the service left, and makes no database of its own', async () => {
    const data = mkdtempSync(join(tmpdir(), 'reactord-users-'));
    try {
      const none = await reactord(data, ['users', 'list']);
      assert.equal(none.code, 1);
      assert.match(none.errors, /There is no database at .*reactord\.db; start the service once/);
      assert.equal(existsSync(join(data, 'reactord.db')), false);
      const first = await startService({ data });
      first.signal('SIGTERM');
      await first.ended;
      const made = await reactord(data, ['users', 'add', 'ada'], 'a long password');
      assert.deepEqual([made.code, made.errors], [0, '']);
      const second = await startService({ data, flags: [] });
      try {
        await ProfilesArea.logIn(second, 'ada', 'a long password');
      } finally {
        second.signal('SIGTERM');
        await second.ended;
      }
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  });
});
