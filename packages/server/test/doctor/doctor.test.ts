import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type RunningService, startService } from '../harness/running-service.ts';

const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

interface Examined {
  readonly code: number;
  readonly text: string;
  finding(check: string): { readonly state: string; readonly found: string; readonly todo: string };
}

function doctor(environment: NodeJS.ProcessEnv, ...words: string[]): Promise<Examined> {
  const { REACTORD_TEST_ENGINE: engine } = process.env;
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('REACTORD_')),
  );
  const env = { ...clean, ...(engine && { REACTORD_ENGINE: engine }), ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, [entry, 'doctor', ...words], { env }, (error, text) =>
      resolve({
        code: Number(error?.code ?? 0),
        text,
        finding: (check) =>
          JSON.parse(text).checks.find((one: { check: string }) => one.check === check),
      }),
    );
  });
}

describe('doctor', () => {
  let service: RunningService;
  let folder: string;
  before(async () => {
    service = await startService();
    folder = mkdtempSync(join(tmpdir(), 'reactord-doctor-'));
  });
  after(async () => {
    await service.dispose();
    rmSync(folder, { recursive: true });
  });

  test('finds nothing wrong where the service runs, and changes nothing', async () => {
    const port = new URL(service.url).port;
    const seen = await doctor({ REACTORD_DATA: service.data, REACTORD_PORT: port });
    assert.equal(seen.code, 0, seen.text);
    assert.match(seen.text, /port: 127\.0\.0\.1:\d+ is where this service listens/);
    assert.match(seen.text, /store: SQLite .* with schema \d+/);
    assert.match(seen.text, /clock: The clock agrees with the engine/);
  });

  test('says of each thing that is wrong what to do, and exits with 1', async () => {
    const seen = await doctor(
      {
        REACTORD_DATA: folder,
        REACTORD_PORT: new URL(service.url).port,
        REACTORD_DATABASE: 'postgres://nobody@127.0.0.1:1/none',
        REACTORD_ENGINE: 'unix:///nowhere/docker.sock',
      },
      '--json',
    );
    assert.equal(seen.code, 1);
    for (const check of ['store', 'engine', 'port']) {
      const { state, found, todo } = seen.finding(check);
      assert.equal(state, 'wrong', check);
      assert.ok(found.length > 0 && todo.length > 0, check);
    }
    assert.match(seen.finding('port').todo, /REACTORD_PORT/);
  });

  test('warns of what works and is not as it should be', async () => {
    chmodSync(folder, 0o755);
    const seen = await doctor({ REACTORD_DATA: folder, REACTORD_PROT: '1' }, '--json', '--port=0');
    assert.equal(seen.code, 0, seen.text);
    assert.equal(seen.finding('data folder').state, 'warning');
    assert.match(seen.finding('settings').found, /REACTORD_PROT/);
  });

  test('a wrong setting is what it finds first', async () => {
    const seen = await doctor({}, '--json', '--prt=1');
    assert.equal(seen.code, 1);
    assert.match(seen.finding('settings').found, /did you mean --port/);
  });
});
