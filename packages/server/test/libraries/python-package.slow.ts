import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { type ExecutorImages, makeExecutorImages } from '../harness/executor-image.ts';
import { freePort } from '../harness/free-port.ts';
import { adminPassword } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

/** The Python package against the service and real containers, with Debian's Python and the others of the machine. */

const debian = '/usr/bin/python3';
const packages = '/usr/lib/python3/dist-packages';
const folder = fileURLToPath(new URL('../../../../python', import.meta.url));

describe('the Python package', () => {
  let scene: Scene;
  let images: ExecutorImages;
  let borrowed: string;
  let environment: NodeJS.ProcessEnv;

  before(async () => {
    // Little room for results, so that one which is too large need not be very large.
    const settings = { REACTORD_RESULTS_LIMIT: '12m', REACTORD_PORT: String(await freePort()) };
    [images, scene] = await Promise.all([
      makeExecutorImages(),
      openScene({ environment: settings }),
    ]);
    const ada = await scene.user('ada');
    const { url } = scene.service;
    const password = `ada ${adminPassword}`;
    const area = new ClientsArea(scene.service, basic('ada', password));
    const { key, secret } = await area.create('python');
    // Of Debian's packages the one that is needed, which is Python alone; others would not fit another Python.
    borrowed = mkdtempSync(join(tmpdir(), 'reactord-python-'));
    symlinkSync(join(packages, 'cloudpickle'), join(borrowed, 'cloudpickle'));
    environment = {
      PATH: process.env['PATH'],
      HOME: borrowed,
      PYTHONDONTWRITEBYTECODE: '1',
      REACTORD_URL: url,
      REACTORD_TOKEN: ada.token,
      TEST_KEY: key,
      TEST_SECRET: secret,
      TEST_PASSWORD: password,
      TEST_EXECUTOR_IMAGE: images.executor,
      TEST_PROGRAM_IMAGE: images.program,
    };
  });
  after(async () => {
    await scene?.dispose();
    await images?.remove();
    if (borrowed !== undefined) rmSync(borrowed, { recursive: true });
  });

  const start = (python: string, args: readonly string[], path: readonly string[]) => {
    const child = spawn(python, args, {
      cwd: folder,
      env: { ...environment, PYTHONPATH: path.join(':') },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const output = { said: '' };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output.said += chunk;
      });
    const ended = once(child, 'close').then(([code]) => {
      assert.equal(code, 0, output.said);
      return output.said;
    });
    return { child, output, ended };
  };
  const run = (...args: Parameters<typeof start>) => start(...args).ended;

  test("does what its tests say, with Debian's Python", async (t) => {
    const said = await run(debian, ['-m', 'pytest', '-q', '--durations=5'], [folder]);
    t.diagnostic(said.trim().split('\n').at(-1) ?? '');
  });

  test('brings calls through a kill of the service', async () => {
    const { child, output, ended } = start(debian, ['tests/through_a_restart.py'], [folder]);
    await Promise.race([
      ended,
      until('calls to be out', () => output.said.includes('they are out')),
    ]);
    await scene.restart('SIGKILL');
    child.stdin.end('go on\n');
    await ended;
  });

  test('works with the other Pythons of the machine', async (t) => {
    const others = otherPythons();
    t.diagnostic(others.join(', ') || 'there are none');
    await Promise.all(
      others.map((python) => run(python, ['tests/any_python.py'], [folder, borrowed])),
    );
  });
});

/** Of each version that the package supports, the newest. */
function otherPythons(): readonly string[] {
  const places = [
    ...globSync(join(homedir(), '.pyenv/versions/3.*/bin/python3')),
    ...globSync('/usr/local/bin/python3'),
    ...globSync('/opt/python*/bin/python3'),
  ].filter((path) => existsSync(path));
  return places.sort().filter((path) => {
    const minor = /3\.(\d+)/.exec(path)?.[1];
    return minor === undefined || Number(minor) >= 9;
  });
}
