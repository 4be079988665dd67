import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import {
  obstacleToOwnDockerd,
  startOwnDockerd,
} from '../../packages/server/test/harness/own-dockerd.ts';
import { startService } from '../../packages/server/test/harness/running-service.ts';
import { until } from '../../packages/server/test/harness/until.ts';
import { EngineImages } from '../../setup/images/engine-images.ts';
import { root } from './run-page.ts';

const run = promisify(execFile);
const obstacle = obstacleToOwnDockerd();

/** What `npm start` does on an engine that has no image at all. */
describe('the first start with an engine', { skip: obstacle ?? false }, () => {
  test('builds reactord/hello from what is at hand, and the greeting says how to try it', async (t) => {
    const dockerd = await startOwnDockerd({ liveRestore: false });
    t.after(dockerd.dispose);
    const engine = new EngineImages(dockerd.address);
    t.after(() => engine.close());
    assert.equal(await engine.find('reactord/hello'), undefined);

    const before = await greetingOf(dockerd.address);
    assert.match(before, /npm run samples -- hello\n.*npx reactord login/);

    const { stdout, stderr } = await run(process.execPath, ['setup/engine.ts'], {
      cwd: root,
      env: { PATH: process.env['PATH'], DOCKER_HOST: dockerd.address },
    });
    assert.equal(stdout, '');
    assert.match(stderr, /^reactord: making reactord\/base-busybox from Debian's packages/);
    assert.ok(await engine.find('reactord/hello'));

    const after = await greetingOf(dockerd.address);
    assert.doesNotMatch(after, /npm run samples/);
    assert.match(after, /npx reactord reactors create reactord\/hello --name hello/);
  });

  test('goes on without it where the engine refuses', async (t) => {
    const dockerd = await startOwnDockerd({ liveRestore: false });
    t.after(dockerd.dispose);
    await dockerd.kill();
    const { stderr } = await run(process.execPath, ['setup/engine.ts'], {
      cwd: root,
      env: { PATH: process.env['PATH'], DOCKER_HOST: dockerd.address },
    });
    assert.equal(stderr, '');
  });
});

async function greetingOf(engine: string): Promise<string> {
  const service = await startService({ environment: { REACTORD_ENGINE: engine } });
  try {
    return await until(
      'the greeting',
      () => service.output().includes('Every operation') && service.output(),
    );
  } finally {
    await service.dispose();
  }
}
