import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';

const engine = new URL('../engine.ts', import.meta.url).pathname;

function run(environment: NodeJS.ProcessEnv, ...flags: string[]) {
  const { PATH } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [engine, ...flags], {
    env: { PATH, REACTORD_SETUP: 'never', ...environment },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('the engine before a start', () => {
  it('leaves a wrong setting to the service', () => {
    assert.deepEqual(run({}, '--prot', '1'), { status: 0, stdout: '', stderr: '' });
    assert.deepEqual(run({ DOCKER_HOST: 'ssh://x' }), { status: 0, stdout: '', stderr: '' });
  });

  it('takes an engine that was named as it is, answering or not', () => {
    const silent = { status: 0, stdout: '', stderr: '' };
    assert.deepEqual(run({ DOCKER_HOST: 'unix:///nowhere.sock' }), silent);
    assert.deepEqual(run({}, '--engine', 'tcp://127.0.0.1:1'), silent);
  });
});
