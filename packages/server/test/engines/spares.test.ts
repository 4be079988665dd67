import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { Said } from '../../src/engines/docker/said.ts';
import {
  beginsLine,
  handedOver,
  waitProgram,
  waitsLine,
} from '../../src/engines/docker/wait-program.ts';
import { newId } from '../../src/ids.ts';
import { engineAddress, makeImageOf } from '../harness/images.ts';
import { collect } from './conformance/subject.ts';

const folder = mkdtempSync(join(tmpdir(), 'reactord-spares-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('the waiting program', () => {
  const own = process.arch === 'x64' ? 'amd64' : process.arch;
  const program = join(folder, 'wait');
  const environment = { PATH: '/nowhere::/usr/bin:/bin', HOME: '/x', A: 'old', AB: 'kept' };
  const become = (args: readonly string[], input: Buffer) => {
    const { status, stdout, stderr } = spawnSync(program, args, { input, env: environment });
    return { status, stdout: stdout.toString(), stderr: stderr.toString() };
  };
  before(() => {
    writeFileSync(program, waitProgram(own) ?? '');
    chmodSync(program, 0o755);
  });

  test('there is one for both usual processors, and it is tiny', () => {
    for (const architecture of ['amd64', 'arm64']) {
      const made = waitProgram(architecture);
      assert.ok(made && made.length < 1000);
      assert.equal(made.toString('latin1', 1, 4), 'ELF');
    }
    assert.equal(waitProgram('riscv64'), undefined);
  });

  test('it becomes another program, with what it is given over what it had', () => {
    const { status, stdout, stderr } = become(
      ['env'],
      handedOver(['A=new\nline', 'B=', 'PATH=/bin']),
    );
    assert.equal(status, 0);
    assert.equal(stderr, `${waitsLine}${beginsLine}`);
    assert.equal(stdout, 'A=new\nline\nB=\nPATH=/bin\nHOME=/x\nAB=kept\n');
  });

  test('nothing given is something given', () => {
    assert.match(become(['env'], handedOver([])).stdout, /^A=old$/m);
  });

  test('it ends without a word when its input does, wherever that is', () => {
    const whole = handedOver(['A=1', `B=${'x'.repeat(100_000)}`]);
    for (const length of [0, 1, 7, 8, 9, 50_000, whole.length - 1]) {
      const { status, stdout, stderr } = become(['env'], whole.subarray(0, length));
      assert.deepEqual(
        { status, stdout, stderr },
        { status: 0, stdout: '', stderr: `${waitsLine}` },
      );
    }
  });

  test('entries of PATH that are too long are passed over', () => {
    for (const length of [4090, 4093, 4094, 4095, 4096, 4097, 100_000]) {
      const path = `PATH=/${'q'.repeat(length)}:/usr/bin`;
      assert.equal(become(['true'], handedOver([path])).status, 0, String(length));
    }
  });
});

describe('what the waiting program says', () => {
  const read = (...chunks: readonly [stream: 'stdout' | 'stderr', text: string][]) => {
    const said = new Said();
    const rest = chunks.map(([stream, text]) =>
      Buffer.from(said.leftOut({ stream, bytes: Buffer.from(text) })).toString(),
    );
    const { waits, begun, isStrange } = said;
    return { rest: rest.join(''), waits, begun, isStrange };
  };

  test('is left out, however it is cut, and nothing else is', () => {
    const all = `${waitsLine}${beginsLine}rest ${waitsLine}`;
    for (let at = 0; at <= all.length; at++) {
      const { rest, begun } = read(['stderr', all.slice(0, at)], ['stderr', all.slice(at)]);
      assert.deepEqual({ rest, begun }, { rest: `rest ${waitsLine}`, begun: true });
    }
  });

  test('tells a container that waits from one that has begun, and from one that never waited', () => {
    const waiting = read(['stderr', `${waitsLine}`]);
    assert.deepEqual(waiting, { rest: '', waits: true, begun: false, isStrange: false });
    // The two streams are not in order.
    const begun = read(['stderr', `${waitsLine}`], ['stdout', 'x'], ['stderr', `${beginsLine}e`]);
    assert.deepEqual(begun, { rest: 'xe', waits: true, begun: true, isStrange: false });
    const strange = read(['stderr', '[FATAL tini (7)] exec x failed']);
    assert.deepEqual(strange, {
      rest: '[FATAL tini (7)] exec x failed',
      waits: false,
      begun: false,
      isStrange: true,
    });
  });
});

describe('spares of images of all kinds', () => {
  const owner = `reactord-test-${newId()}`;
  const client = new DockerClient(engineAddress, process.env);
  const engine = new DockerEngine({
    address: engineAddress,
    environment: process.env,
    owner,
    network: owner,
    programs: join(folder, 'programs'),
  });
  after(async () => {
    await engine.removeLeftovers({});
    await engine.close();
    client.close();
  });
  const specOf = (image: string) => ({
    name: `test-${newId()}`,
    image,
    labels: {},
    group: 'tests',
    limits: { memoryBytes: 64 * 1024 * 1024, cpus: 1, processes: 64 },
  });

  test('one without a shell, with a user, a folder, variables and a program of its own', async (t) => {
    const image = await makeImageOf(
      ['/tools/busybox'],
      [
        'ENV PATH=/tools KEPT=1 GIVEN=image',
        'USER 1234:77',
        'WORKDIR /some/where',
        'ENTRYPOINT ["busybox"]',
        'CMD ["sh", "-c", "busybox id -u; busybox id -g; busybox pwd; busybox env; exit 5"]',
      ],
    );
    t.after(() => image.remove());
    const spare = await engine.spare(specOf(image.reference));
    assert.ok(spare);
    const answer = await client.call('GET', `/containers/${spare.id}/json`);
    assert.doesNotMatch(JSON.stringify(answer), /s3cret/);
    const { stdout } = await collect(await spare.begin({ GIVEN: 's3cret' }));
    assert.equal((await engine.ended(spare.id)).exitCode, 5);
    const lines = stdout.toString().trim().split('\n');
    assert.deepEqual(lines.slice(0, 3), ['1234', '77', '/some/where']);
    assert.deepEqual(lines.slice(3).sort(), [
      'GIVEN=s3cret',
      'HOME=/',
      'HOSTNAME=reactor',
      'KEPT=1',
      'PATH=/tools',
      'PWD=/some/where',
      'SHLVL=1',
    ]);
    const used = await client.call('GET', `/containers/${spare.id}/json`);
    assert.doesNotMatch(JSON.stringify(used), /s3cret/);
    await engine.remove(spare.id);
  });

  test('one that says nothing of a program has no spare, and neither has one that is not there', async (t) => {
    const image = await makeImageOf(['/tools/busybox'], ['USER 1']);
    t.after(() => image.remove());
    assert.equal(await engine.spare(specOf(image.reference)), undefined);
    assert.equal(await engine.spare(specOf('reactord-test/no-such-image:1')), undefined);
  });

  test('without a folder for the program there are none', async (t) => {
    const without = new DockerEngine({
      address: engineAddress,
      environment: process.env,
      owner,
      network: owner,
    });
    t.after(() => without.close());
    assert.equal(await without.spare(specOf('reactord-test/any:1')), undefined);
  });
});
