import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { launchService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

describe('starting', () => {
  test('the first start prints the address, the admin, a generated password and commands to try', async (t) => {
    const service = await startService({ environment: { REACTORD_ADMIN_PASSWORD: '' } });
    t.after(service.dispose);
    const printed = await until(
      'the greeting',
      () => service.output().includes('Try next') && service.output(),
    );
    assert.match(printed, new RegExp(`running at ${service.url}`));
    assert.match(printed, /Admin {6}admin/);
    assert.match(printed, /Password {3}\w{5}-\w{5}-\w{5}-\w{5} {2}\(shown this once; keep it\)/);
    const commands = printed
      .split(/Try next.*\n/)[1]
      ?.split('\n')
      .filter((line) => line.startsWith('    '));
    assert.ok(commands?.length === 3 || commands?.length === 4, 'and at most four');
  });

  test('the generated password is not stored in clear anywhere in the data folder', async (t) => {
    const service = await startService({ environment: { REACTORD_ADMIN_PASSWORD: '' } });
    t.after(service.dispose);
    const printed = await until(
      'the password',
      () => /Password {3}(\S+)/.exec(service.output())?.[1],
    );
    for (const name of readdirSync(service.data)) {
      assert.ok(
        !readFileSync(join(service.data, name)).includes(printed),
        `${name} holds the password`,
      );
    }
  });

  test('a later start prints no password and keeps the admin', async (t) => {
    const first = await startService();
    t.after(first.dispose);
    first.signal('SIGTERM');
    assert.equal(await first.ended, 0);
    const second = await startService({
      data: first.data,
      environment: { REACTORD_ADMIN_PASSWORD: '' },
    });
    t.after(second.dispose);
    await until('the greeting', () => second.output().includes('running at'));
    assert.doesNotMatch(second.output(), /Password/);
  });

  test('the data folder is made with mode 0700 and its files are for the owner alone', async (t) => {
    const parent = await startService();
    t.after(parent.dispose);
    const data = join(parent.data, 'nested', 'folder');
    const service = await startService({ data });
    t.after(service.dispose);
    assert.equal(statSync(data).mode & 0o777, 0o700);
    for (const name of readdirSync(data)) {
      assert.equal(statSync(join(data, name)).mode & 0o077, 0, `${name} is open to others`);
    }
  });

  test('a second service on the same data folder refuses and names the first', async (t) => {
    const first = await startService();
    t.after(first.dispose);
    const second = launchService({ data: first.data });
    assert.equal(await second.ended, 1);
    assert.match(
      second.errors(),
      new RegExp(`in use by another reactord \\(process ${first.pid}, ${first.url}\\)`),
    );
    assert.ok((await fetch(`${first.url}/health`)).ok);
  });

  test('killed with -9, it starts again on the same folder', async (t) => {
    const first = await startService();
    t.after(first.dispose);
    first.signal('SIGKILL');
    assert.equal(await first.ended, 'SIGKILL');
    const second = await startService({ data: first.data });
    t.after(second.dispose);
    assert.ok((await fetch(`${second.url}/health`)).ok);
  });

  test('a taken port is said in one sentence', async (t) => {
    const first = await startService();
    t.after(first.dispose);
    const port = new URL(first.url).port;
    const second = launchService({ environment: { REACTORD_PORT: port } });
    t.after(second.dispose);
    assert.equal(await second.ended, 1);
    assert.match(
      second.errors(),
      /address already in use 127\.0\.0\.1:\d+; stop what listens there, or set REACTORD_PORT/,
    );
  });

  test('a wrong setting is named with what it allows, and nothing is made', async () => {
    const data = join('/nonexistent', 'folder');
    const service = launchService({ data, environment: { REACTORD_PORT: 'eighty' } });
    assert.equal(await service.ended, 2);
    assert.match(
      service.errors(),
      /^reactord: REACTORD_PORT is "eighty", which is not allowed; it takes a whole number from 0 to 65535\.\n$/,
    );
  });
});

describe('stopping', () => {
  test('SIGTERM finishes a request under way, accepts no new one, and exits 0', async (t) => {
    const service = await startService();
    t.after(service.dispose);
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    // The request has begun: its headers are there, its body is not.
    socket.write('POST /docs HTTP/1.1\r\nHost: x\r\n');
    service.signal('SIGTERM');
    await until('new connections to be refused', async () => {
      try {
        await fetch(`${service.url}/health`, { headers: { connection: 'close' } });
        return undefined;
      } catch {
        return true;
      }
    });
    socket.write('Content-Length: 0\r\n\r\n');
    const [reply] = await once(socket, 'data');
    assert.match(String(reply), /^HTTP\/1\.1 [45]\d\d /);
    assert.equal(await service.ended, 0);
    assert.ok(!existsSync(join(service.data, 'service.json')));
  });

  test('a request that never ends does not keep the process longer than 10 s', async (t) => {
    const service = await startService();
    t.after(service.dispose);
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    socket.write('POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n1');
    const before = Date.now();
    service.signal('SIGTERM');
    assert.equal(await service.ended, 0);
    assert.ok(Date.now() - before < 10_000);
  });

  test('a second signal ends it at once', async (t) => {
    const service = await startService();
    t.after(service.dispose);
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n');
    service.signal('SIGTERM');
    await until('it to stop accepting', async () =>
      fetch(`${service.url}/health`).then(
        () => undefined,
        () => true,
      ),
    );
    service.signal('SIGTERM');
    assert.equal(await service.ended, 143);
  });

  test('Ctrl-C that npm passes on a second time still stops it in good order', async (t) => {
    const service = await startService();
    t.after(service.dispose);
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n');
    service.signal('SIGINT');
    await until('it to stop accepting', async () =>
      fetch(`${service.url}/health`).then(
        () => undefined,
        () => true,
      ),
    );
    service.signal('SIGINT');
    socket.end('\r\n');
    assert.equal(await service.ended, 0);
  });
});
