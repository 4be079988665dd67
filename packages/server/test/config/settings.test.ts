import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { readConfig, SettingError, unknownEnvironmentNames } from '../../src/config-sources.ts';

const read = (flags: string[] = [], environment: Record<string, string> = {}) =>
  readConfig({ flags, environment });

function configFile(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'reactord.conf');
  writeFileSync(path, content);
  return path;
}

describe('settings', () => {
  test('have the documented defaults', () => {
    const config = read();
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.port, 8080);
    assert.equal(config.data, './data');
    assert.equal(config.database, undefined);
    assert.equal(config.admin_username, 'admin');
  });

  test('a flag wins over the environment, the environment over the file', (t) => {
    const config = configFile(
      t,
      '# a comment\n\nport = 1001\nhost = "0.0.0.0"\nadmin-username = file\n',
    );
    const value = read(['--port=3003', '--config', config], {
      REACTORD_PORT: '2002',
      REACTORD_ADMIN_USERNAME: 'env',
    });
    assert.equal(value.port, 3003);
    assert.equal(value.admin_username, 'env');
    assert.equal(value.host, '0.0.0.0');
  });

  test('an empty variable counts as not set', () => {
    assert.equal(read([], { REACTORD_PORT: '' }).port, 8080);
  });

  const refused: [string, string[], Record<string, string>, RegExp][] = [
    [
      'a port out of range',
      ['--port', '65536'],
      {},
      /^--port is "65536", which is not allowed; it takes a whole number from 0 to 65535\.$/,
    ],
    ['a negative port', [], { REACTORD_PORT: '-1' }, /^REACTORD_PORT is "-1".*0 to 65535/],
    [
      'a base URL with a path',
      [],
      { REACTORD_BASE_URL: 'https://x.org/a' },
      /^REACTORD_BASE_URL .* without a path/,
    ],
    [
      'a base URL of another scheme',
      [],
      { REACTORD_BASE_URL: 'ftp://x.org' },
      /^REACTORD_BASE_URL/,
    ],
    [
      'a database of another kind',
      [],
      { REACTORD_DATABASE: 'mysql://x' },
      /^REACTORD_DATABASE is not allowed; it takes postgres:/,
    ],
    ['the admin name me', ['--admin-username', 'me'], {}, /^--admin-username is "me"/],
    ['a mistyped flag', ['--prot', '1'], {}, /^--prot is not a setting; did you mean --port\?$/],
    ['a flag without its value', ['--port'], {}, /^--port needs a value/],
    ['a word that is no flag', ['port'], {}, /^port is not a setting/],
  ];
  for (const [what, flags, environment, message] of refused) {
    test(`${what} is refused, named, with what is allowed`, () => {
      assert.throws(
        () => read(flags, environment),
        (error) => error instanceof SettingError && message.test(error.message),
      );
    });
  }

  test('a password that is too short is named and not shown', () => {
    assert.throws(
      () => read([], { REACTORD_ADMIN_PASSWORD: 'short' }),
      (error) =>
        error instanceof SettingError &&
        /at least 8 characters, and at most 1024 bytes of UTF-8/.test(error.message) &&
        !error.message.includes('short'),
    );
  });

  test('a mistyped line of the file is named with its number', (t) => {
    const path = configFile(t, 'host = 127.0.0.1\nprot = 80\n');
    assert.throws(
      () => read(['--config', path]),
      /prot \(line 2 of .*reactord\.conf\) is not a setting; did you mean port\?/,
    );
    const broken = configFile(t, 'just words\n');
    assert.throws(() => read(['--config', broken]), /line 1 of .* is not `name = value`/);
  });

  test('a config file that is named and missing is an error', () => {
    assert.throws(
      () => read([], { REACTORD_CONFIG: '/nonexistent/file' }),
      /^SettingError: REACTORD_CONFIG cannot be read/,
    );
  });

  test('unknown REACTORD_ variables are told apart from known ones', () => {
    const environment = {
      REACTORD_PORT: '1',
      REACTORD_SETUP: 'never',
      REACTORD_PROT: '1',
      PATH: '/bin',
    };
    assert.deepEqual(unknownEnvironmentNames(environment), ['REACTORD_PROT']);
  });
});
