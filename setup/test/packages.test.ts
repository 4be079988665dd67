import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

/** A repository with nothing but the scripts, on a machine that has only what a test gives it. */
class Machine {
  readonly root: string;
  readonly bin: string;

  constructor(test: TestContext) {
    const folder = mkdtempSync(join(tmpdir(), 'reactord-packages-'));
    test.after(() => rmSync(folder, { recursive: true, force: true }));
    this.root = join(folder, 'repository');
    this.bin = join(folder, 'bin');
    mkdirSync(join(this.root, 'setup'), { recursive: true });
    mkdirSync(this.bin);
    for (const name of ['start', 'run', 'packages.sh']) {
      copyFileSync(join(import.meta.dirname, '..', name), join(this.root, 'setup', name));
    }
    this.writeLockFile('first');
    const tools = 'sh cat cmp cp dirname env ln mkdir mv readlink rm sleep touch chmod'.split(' ');
    for (const tool of tools) symlinkSync(findTool(tool), join(this.bin, tool));
  }

  writeLockFile(content: string): void {
    writeFileSync(join(this.root, 'package-lock.json'), content);
  }

  program(path: string, ...lines: string[]): void {
    writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
    chmodSync(path, 0o755);
  }

  /** A Node that knows its version and says what it is asked to run. */
  systemNode(version: string): void {
    this.program(
      join(this.bin, 'node'),
      `[ "$1" = -v ] && echo ${version} || echo "system ran $*"`,
    );
  }

  /** An npm whose `ci` runs these lines; the usual one brings a Node 24. */
  npm({ ci = [bringNode('v24.1.0')], rebuild = [':'], version = '10.9.0' } = {}): void {
    this.program(
      join(this.bin, 'npm'),
      `[ "$1" = --version ] && { echo ${version}; exit; }`,
      `echo "$*" >>"${this.root}/npm.log"`,
      `case $1 in ci) rm -rf node_modules`,
      ...ci,
      ';; rebuild)',
      ...rebuild,
      ';; esac',
    );
  }

  get npmCalls(): readonly string[] {
    const log = join(this.root, 'npm.log');
    if (!existsSync(log)) return [];
    const calls = readFileSync(log, 'utf8').trim().split('\n');
    return calls.map((call) => call.split(' ').slice(0, 2).join(' '));
  }

  spawn(script: string, ...args: string[]): ChildProcess {
    return spawn('/bin/sh', [join(this.root, 'setup', script), ...args], {
      // As under npm, which puts the folder of the packages' programs first.
      env: { PATH: [join(this.root, 'node_modules/.bin'), this.bin].join(delimiter) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async run(script: string, ...args: string[]) {
    return finish(this.spawn(script, ...args));
  }
}

function findTool(name: string): string {
  const folders = ['/bin', '/usr/bin'];
  const found = folders.map((folder) => join(folder, name)).find(existsSync);
  assert.ok(found, `${name} is missing on this machine`);
  return found;
}

function bringNode(version: string): string {
  return [
    'mkdir -p node_modules/.bin',
    `printf '#!/bin/sh\\n[ "$1" = -v ] && echo ${version} || echo "own ran $*"\\n' >node_modules/.bin/node`,
    'chmod +x node_modules/.bin/node',
  ].join('; ');
}

async function finish(child: ChildProcess) {
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}

const ci = 'ci --include=dev';

describe('the packages before a start', () => {
  it('are installed at the first start, and not at the second', async (test) => {
    const machine = new Machine(test);
    machine.systemNode('v20.0.0');
    machine.npm();
    const first = await machine.run('run', 'file.ts', 'a b');
    assert.equal(first.stdout, 'own ran file.ts a b\n');
    assert.equal(first.stderr, 'reactord: installing packages (first start, about 20 s)…\n');
    const second = await machine.run('run', 'file.ts');
    assert.deepEqual(second, { code: 0, stdout: 'own ran file.ts\n', stderr: '' });
    assert.deepEqual(machine.npmCalls, [ci]);
  });

  it('are installed again when the lock file is another', async (test) => {
    const machine = new Machine(test);
    machine.npm();
    await machine.run('run', 'file.ts');
    machine.writeLockFile('second');
    await machine.run('run', 'file.ts');
    assert.deepEqual(machine.npmCalls, [ci, ci]);
  });

  it('are left alone where somebody ran npm ci by hand', async (test) => {
    const machine = new Machine(test);
    machine.npm({ ci: [bringNode('v24.1.0'), 'touch node_modules/.package-lock.json'] });
    await sleep(20);
    await finish(
      spawn(join(machine.bin, 'npm'), ['ci', '--include=dev'], {
        cwd: machine.root,
        env: { PATH: machine.bin },
      }),
    );
    const { stderr } = await machine.run('run', 'file.ts');
    assert.equal(stderr, '');
    assert.deepEqual(machine.npmCalls, [ci]);
  });

  it('are installed again after an interrupted install', async (test) => {
    const machine = new Machine(test);
    machine.npm({ ci: [bringNode('v24.1.0'), 'touch installing', 'exec sleep 30'] });
    const interrupted = machine.spawn('run', 'file.ts');
    const end = finish(interrupted);
    while (!existsSync(join(machine.root, 'installing'))) await sleep(10);
    interrupted.kill('SIGTERM');
    assert.equal((await end).code, 143);
    assert.equal(existsSync(join(machine.root, '.setup-lock')), false);
    machine.npm();
    assert.equal((await machine.run('run', 'file.ts')).code, 0);
    assert.deepEqual(machine.npmCalls, [ci, ci]);
  });

  it('are installed once by two starts at the same time', async (test) => {
    const machine = new Machine(test);
    machine.npm({ ci: ['sleep 0.5', bringNode('v24.1.0')] });
    const both = await Promise.all([machine.run('run', 'a.ts'), machine.run('run', 'b.ts')]);
    assert.deepEqual(
      both.map(({ stdout }) => stdout),
      ['own ran a.ts\n', 'own ran b.ts\n'],
    );
    assert.deepEqual(machine.npmCalls, [ci]);
  });

  it('are installed in spite of a lock whose process is gone', async (test) => {
    const machine = new Machine(test);
    machine.npm();
    // The pid is in use, by a process that began at another time.
    symlinkSync(`${process.pid}-1`, join(machine.root, '.setup-lock'));
    assert.equal((await machine.run('run', 'file.ts')).code, 0);
    assert.throws(() => readlinkSync(join(machine.root, '.setup-lock')));
  });

  it('are installed again when their Node cannot run, without using it for npm', async (test) => {
    const machine = new Machine(test);
    machine.npm();
    await machine.run('run', 'file.ts');
    machine.program(join(machine.root, 'node_modules/.bin/node'), 'exit 126');
    assert.equal((await machine.run('run', 'file.ts')).stdout, 'own ran file.ts\n');
    assert.deepEqual(machine.npmCalls, [ci, ci]);
  });

  it('get their Node by npm rebuild where scripts were not run', async (test) => {
    const machine = new Machine(test);
    machine.npm({ ci: ['mkdir -p node_modules'], rebuild: [bringNode('v24.1.0')] });
    assert.equal((await machine.run('run', 'file.ts')).stdout, 'own ran file.ts\n');
    assert.deepEqual(machine.npmCalls, [ci, 'rebuild node']);
  });

  it("use the machine's Node where it is new enough and theirs cannot be had", async (test) => {
    const machine = new Machine(test);
    machine.systemNode('v25.0.0');
    machine.npm({ ci: ['mkdir -p node_modules'] });
    assert.equal((await machine.run('run', 'file.ts')).stdout, 'system ran file.ts\n');
    assert.equal((await machine.run('run', 'file.ts')).stderr, '');
    assert.deepEqual(machine.npmCalls, [ci, 'rebuild node']);
  });

  it('say in one sentence what to install where no Node is new enough', async (test) => {
    const machine = new Machine(test);
    machine.systemNode('v12.22.0');
    machine.npm({ ci: [bringNode('v12.22.0')] });
    const { code, stderr } = await machine.run('run', 'file.ts');
    assert.equal(code, 1);
    assert.match(stderr, /\n.*install Node\.js 24 or later from https:\/\/nodejs\.org.*\n$/);
  });

  it('say in one sentence that npm is missing', async (test) => {
    const machine = new Machine(test);
    const { code, stderr } = await machine.run('start');
    assert.equal(code, 1);
    assert.match(stderr, /^reactord: npm is missing.*install Node\.js 24.*\n$/);
  });

  it("are installed by a newer npm where the machine's is too old for workspaces", async (test) => {
    const machine = new Machine(test);
    machine.npm({ version: '6.14.18' });
    machine.program(join(machine.bin, 'npx'), `echo "$*" >npx.log`, bringNode('v24.1.0'));
    assert.equal((await machine.run('run', 'file.ts')).stdout, 'own ran file.ts\n');
    assert.match(readFileSync(join(machine.root, 'npx.log'), 'utf8'), /npm@8 ci /);
    assert.deepEqual(machine.npmCalls, []);
  });

  it('let a failing npm speak for itself', async (test) => {
    const machine = new Machine(test);
    machine.npm({ ci: ['echo "npm error the disk is full" >&2; exit 1'] });
    const { code, stderr } = await machine.run('run', 'file.ts');
    assert.equal(code, 1);
    assert.match(stderr, /the disk is full/);
    assert.equal(existsSync(join(machine.root, '.setup-lock')), false);
  });
});

describe('npm start', () => {
  it('prepares the engine, then runs the service, both with the flags as given', async (test) => {
    const machine = new Machine(test);
    machine.npm();
    const { stdout } = await machine.run('start', '--port', '9000', '--data', 'a b');
    assert.deepEqual(stdout.trim().split('\n'), [
      'own ran setup/engine.ts --port 9000 --data a b',
      'own ran packages/server/src/main.ts --port 9000 --data a b',
    ]);
  });
});
