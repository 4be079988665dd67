import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connectDevice } from '../../server/test/harness/person-visits.ts';
import {
  adminPassword,
  type RunningService,
  startService,
} from '../../server/test/harness/running-service.ts';
import { until } from '../../server/test/harness/until.ts';
import { Person } from './harness/command.ts';

describe('logging in', () => {
  let service: RunningService;
  before(async () => {
    // So short that every command finds its token as good as over, and renews it.
    const lifetime = {
      REACTORD_PASSWORD_TOKEN_LIFETIME: '60s',
      REACTORD_CODE_TOKEN_LIFETIME: '60s',
    };
    service = await startService({ environment: lifetime });
  });
  after(() => service.dispose());

  const byPassword = async (person: Person, ...more: string[]) => {
    const words = ['login', service.url, '--username', 'admin', '--password-stdin', ...more];
    const said = await person.run(words, { input: `${adminPassword}\n` });
    assert.equal(said.code, 0, said.stderr);
  };
  const fileOf = (person: Person) => join(person.config, 'reactord', 'credentials.json');

  test('with a browser elsewhere: shows an address and a code, and goes on when they are confirmed', async () => {
    using person = new Person();
    const login = person.start(['login', '--server', service.url, '--json']);
    const address = await until(
      'the address',
      () => /(http\S+user_code=\S+)/.exec(login.errors())?.[1],
    );
    await connectDevice(service, address);
    const said = await login.ended;
    assert.equal(said.code, 0, said.stderr);
    assert.deepEqual(said.json(), {
      profile: new URL(service.url).host,
      server: service.url,
      username: 'admin',
    });
    assert.equal((await person.run(['whoami'])).stdout, 'admin\n');
  });

  test('keeps the login where nobody else can read it', async () => {
    using person = new Person();
    await byPassword(person);
    assert.equal(statSync(fileOf(person)).mode & 0o777, 0o600);
    assert.equal(statSync(join(person.config, 'reactord')).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(join(person.config, 'reactord')), ['credentials.json']);
  });

  test('renews the token by itself, also when many commands do so at once', async () => {
    using person = new Person();
    await byPassword(person);
    const before = readFileSync(fileOf(person), 'utf8');
    const many = await Promise.all(Array.from({ length: 6 }, () => person.run(['whoami'])));
    for (const { code, stderr } of many) assert.equal(code, 0, stderr);
    assert.notEqual(readFileSync(fileOf(person), 'utf8'), before);
    assert.equal((await person.run(['whoami'])).code, 0);
  });

  test('a lock of a process that is gone holds nobody up', async () => {
    using person = new Person();
    await byPassword(person);
    const lock = `${fileOf(person)}.lock`;
    // No process has this number.
    writeFileSync(lock, `${2 ** 22 + 1} ${hostname()}`);
    assert.equal((await person.run(['whoami'])).code, 0);
    assert.ok(!readdirSync(join(person.config, 'reactord')).includes('credentials.json.lock'));
  });

  test('logging out ends the login at the service too', async () => {
    using person = new Person();
    await byPassword(person);
    const kept = JSON.parse(readFileSync(fileOf(person), 'utf8'));
    const [profile] = Object.values<{ accessToken: string }>(kept.profiles);
    assert.equal((await person.run(['logout'])).code, 0);
    const headers = { authorization: `Bearer ${profile?.accessToken}` };
    assert.equal((await fetch(`${service.url}/profiles/v2/me`, { headers })).status, 401);
    const said = await person.run(['whoami']);
    assert.equal(said.code, 3);
    assert.match(said.stderr, /You are not logged in\.\n {2}Log in: reactord login/);
  });

  test('logging in again ends the login before it', async () => {
    using person = new Person();
    await byPassword(person, '--profile', 'me');
    const before = JSON.parse(readFileSync(fileOf(person), 'utf8')).profiles.me.accessToken;
    await byPassword(person, '--profile', 'me');
    const headers = { authorization: `Bearer ${before}` };
    assert.equal((await fetch(`${service.url}/profiles/v2/me`, { headers })).status, 401);
  });

  test('with a token, once given or in the environment', async () => {
    using person = new Person();
    await byPassword(person);
    const kept = JSON.parse(readFileSync(fileOf(person), 'utf8'));
    const [profile] = Object.values<{ accessToken: string }>(kept.profiles);
    const input = profile?.accessToken ?? '';
    using other = new Person();
    const login = await other.run(['login', service.url, '--token-stdin'], { input });
    assert.equal(login.code, 0, login.stderr);
    using third = new Person();
    const environment = { REACTORD_SERVER: service.url, REACTORD_TOKEN: input };
    assert.equal((await third.run(['whoami'], { environment })).stdout, 'admin\n');
  });

  test('several logins beside each other, by name or by service', async () => {
    using person = new Person();
    await byPassword(person, '--profile', 'one');
    await byPassword(person, '--profile', 'two');
    const list = async () => (await person.run(['profiles', '--json'])).json();
    assert.deepEqual(
      (await list()).map(({ name, current }: { name: string; current: boolean }) => [
        name,
        current,
      ]),
      [
        ['one', false],
        ['two', true],
      ],
    );
    assert.equal((await person.run(['profiles', 'use', 'one'])).code, 0);
    assert.equal((await list())[0].current, true);
    assert.equal((await person.run(['whoami', '--profile', 'three'])).code, 3);
    assert.equal((await person.run(['whoami', '--server', 'http://127.0.0.1:1'])).code, 3);
    // A token goes to no other service than its own.
    const both = ['whoami', '--profile', 'one', '--server', 'http://127.0.0.1:1'];
    assert.equal((await person.run(both)).code, 2);
  });

  test('a wrong password and a service that is not there are told apart', async () => {
    using person = new Person();
    const words = ['login', service.url, '--username', 'admin', '--password-stdin'];
    const wrong = await person.run(words, { input: 'wrong\n' });
    assert.equal(wrong.code, 3);
    assert.equal(wrong.stderr, 'reactord: The username or the password is wrong.\n');
    const away = await person.run(['login', 'http://127.0.0.1:1', '--token-stdin'], { input: 'x' });
    assert.equal(away.code, 7);
    assert.match(away.stderr, /Cannot reach http:\/\/127\.0\.0\.1:1/);
  });
});
