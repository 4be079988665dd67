import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { findImports } from '../../../checks/find-imports.ts';
import { openScene, type Scene } from '../../server/test/harness/execution-scene.ts';
import type { RunImage } from '../../server/test/harness/run-image.ts';
import { until } from '../../server/test/harness/until.ts';
import { type Message, ReactordClient } from '../src/index.ts';
import { installPackage, type Project } from './harness/installed-package.ts';
import { makeNodeImage } from './harness/node-image.ts';

const tsc = fileURLToPath(import.meta.resolve('../../../node_modules/.bin/tsc'));

/** A program as somebody would write it who has the package alone. */
const program = `
import { type Api, NotFoundError, ReactordClient } from '@reactord/client';


const { BASE_URL = '', TOKEN, REACTOR = '' } = process.env;
const client = new ReactordClient({ baseUrl: BASE_URL, auth: TOKEN });
const reactor: Api.Reactor = await client.reactors.get(REACTOR);
const { executionId } = await client.reactors.send(reactor.id, new TextEncoder().encode('bytes'));
const log = client.executions.followLogs(reactor.id, executionId);
let text = '';
for await (const line of log) text += line.text;
const missing = await client.reactors.get('nothing').catch((error: unknown) => error);
console.log(JSON.stringify({ text, end: log.end, missing: missing instanceof NotFoundError }));
// @ts-expect-error a number is no image
void (() => client.reactors.create({ image: 1 }));
// @ts-expect-error every field has a name that the service knows
void (() => client.reactors.create({ image: 'x', maxWorker: 1 }));
`;

/** What the examples of the README take as given; each may have its own of the same name. */
const aroundExamples = `
import type { OAuth, ReactordClient } from '@reactord/client';
declare global {
  const process: { env: Record<string, string>; stdout: { write(text: string): void } };
  const baseUrl: string, clientId: string, clientSecret: string, id: string;
  const client: ReactordClient;
  const oauth: OAuth;
  function redirect(url: string): void;
}
`;

const inside = `
import { getContext, sendResult, updateState } from '@reactord/client/container';
const { raw_message, state, client } = getContext();
await updateState<{ seen?: number }>(({ seen = 0 }) => ({ seen: seen + 1 }));
await sendResult({ raw_message, state, me: (await client.users.me()).username });
`;

describe('the package, installed from its tarball into an empty project', () => {
  let project: Project;
  let scene: Scene;
  let client: ReactordClient;
  let reactorId: string;
  before(async () => {
    project = installPackage();
    scene = await openScene();
    client = new ReactordClient({ baseUrl: scene.service.url, auth: scene.admin.token });
    const RUN = 'cat $_svc_message_file; echo; echo "$MSG" >/dev/null; exit 4';
    const fields = { image: scene.image.reference, defaultEnvironment: { RUN } };
    reactorId = (await client.reactors.create(fields)).id;
    await client.reactors.untilReady(reactorId);
  });
  after(async () => {
    await scene?.dispose();
    project?.dispose();
  });

  test('has types, source maps and nothing of Node in what browsers load', () => {
    const files = globSync('**/*', { cwd: project.installed }).filter((path) =>
      /\.\w+$/.test(path),
    );
    assert.deepEqual(
      files.filter((path) => !/\.(js|js\.map|d\.ts)$/.test(path)).sort(),
      ['LICENSE', 'README.md', 'package.json'].filter((path) => path.includes('.')),
    );
    for (const file of files.filter((path) => path.endsWith('.js'))) {
      assert.ok(files.includes(file.replace(/js$/, 'd.ts')), file);
      assert.ok(files.includes(`${file}.map`), file);
    }
    const seen = new Set<string>();
    const load = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const name of findImports(readFileSync(join(project.installed, file), 'utf8'))) {
        assert.match(name, /^\.\.?\//, `${file} imports ${name}`);
        load(join(file, '..', name));
      }
    };
    load('index.js');
    assert.ok(seen.size > 10);
    const { dependencies } = JSON.parse(
      readFileSync(join(project.installed, 'package.json'), 'utf8'),
    );
    assert.equal(dependencies, undefined);
  });

  test('type-checks and runs a program, and the examples of its README are right', async () => {
    const readme = readFileSync(join(project.installed, 'README.md'), 'utf8');
    const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
    assert.ok(examples.length > 5);
    for (const [at, code] of examples.entries())
      project.write(`example-${at}.ts`, `${code}export {};\n`);
    project.write('around.d.ts', aroundExamples);
    project.write('program.ts', program);
    project.write('inside.ts', inside);
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2023', 'dom'],
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      types: [],
      outDir: 'out',
    };
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    try {
      execFileSync(tsc, { cwd: project.folder, encoding: 'utf8' });
    } catch (error) {
      assert.fail(String(Object(error).stdout));
    }
    const { stdout } = await promisify(execFile)(process.execPath, ['out/program.js'], {
      cwd: project.folder,
      env: { BASE_URL: scene.service.url, TOKEN: scene.admin.token, REACTOR: reactorId },
    });
    assert.deepEqual(JSON.parse(stdout), {
      text: 'bytes\n',
      end: { status: 'COMPLETE', exitCode: 4 },
      missing: true,
    });
  });

  test('works in a page in Chromium', async () => {
    const pages = createServer((_request, reply) => {
      reply.setHeader('content-type', 'text/html');
      reply.end('<!doctype html>');
    }).listen(0, '127.0.0.1');
    await once(pages, 'listening');
    const chrome = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    });
    try {
      const page = await chrome.newPage();
      const address = pages.address();
      assert.ok(typeof address === 'object' && address !== null);
      // Chromium gives up what it loads whenever an interface comes or goes, as those of containers do. The client asks
      // again by itself; a page and its modules do not.
      await page.route('**/*.js', (route) =>
        route.fulfill({ path: join(project.installed, new URL(route.request().url()).pathname) }),
      );
      await until('the page to be there', () =>
        page.goto(`http://127.0.0.1:${address.port}/`).then(
          () => true,
          () => false,
        ),
      );
      const seen = await page.evaluate(inPage, {
        baseUrl: scene.service.url,
        token: scene.admin.token,
        reactorId,
      });
      assert.deepEqual(seen, {
        username: 'admin',
        text: 'from a page\n',
        end: { status: 'COMPLETE', exitCode: 4 },
        answer: 'a blob\n',
        refusal: 'NotFoundError: There is no reactor called nothing.',
        listed: 2,
      });
    } finally {
      await chrome.close();
      pages.close();
    }
  });

  describe('inside a container', () => {
    let image: RunImage;
    before(async () => {
      image = await makeNodeImage(project.installed);
    });
    after(() => image?.remove());
    const register = async (RUN: string, more: object = {}) => {
      const fields = { image: image.reference, defaultEnvironment: { RUN }, ...more };
      const { id } = await client.reactors.create(fields);
      await client.reactors.untilReady(id);
      return id;
    };
    const parsed = (bytes: Uint8Array | undefined) => JSON.parse(new TextDecoder().decode(bytes));

    test('knows the message, who posted it, and gives results of any size', async () => {
      const id = await register(
        `
        const context = getContext();
        const { raw_message, message_dict, content_type, username, actor_id, execution_id } = context;
        const shown = raw_message instanceof Uint8Array ? [raw_message.length, raw_message[0]] : raw_message;
        const { event, attempt, state } = context;
        await sendResult({ shown, message_dict, content_type, username, actor_id, execution_id, event, attempt, state });
        await sendResult(new Uint8Array(1_000_000).fill(7));
        await sendResult('text');
        console.log((await context.client.users.me()).username);
      `,
        { maxWorkers: 4 },
      );
      const ask = async (message: Message) => {
        const { executionId, result } = await client.reactors.send(id, message, { wait: 60 });
        const { execution_id, actor_id, username, attempt, state, ...rest } = parsed(result);
        assert.deepEqual(
          { execution_id, actor_id, username, attempt, state },
          { execution_id: executionId, actor_id: id, username: 'admin', attempt: 1, state: {} },
        );
        return rest;
      };
      // Too much for a variable.
      const large = { text: 'x'.repeat(300_000) };
      const answers = await Promise.all(
        ['grüße', { a: 1 }, large, new Uint8Array(70_000).fill(5)].map(ask),
      );
      const [event, type] = [{}, 'application/json'];
      assert.deepEqual(answers, [
        { shown: 'grüße', content_type: 'str', event },
        { shown: { a: 1 }, message_dict: { a: 1 }, content_type: type, event },
        { shown: large, message_dict: large, content_type: type, event },
        { shown: [70_000, 5], content_type: 'application/octet-stream', event },
      ]);
      const { executionId } = await client.reactors.sendEvent(id, {
        id: '1',
        source: '/s',
        type: 'made',
        data: 'x',
      });
      const { exitCode } = await client.executions.untilOver(id, executionId);
      const { logs } = await client.executions.logs(id, executionId);
      assert.deepEqual([exitCode, logs], [0, 'admin\n']);
      const results: Uint8Array[] = [];
      for await (const { bytes } of client.results.list(id, { executionId })) results.push(bytes);
      assert.equal(parsed(results[0]).event.type, 'made');
      assert.deepEqual(results[1], new Uint8Array(1_000_000).fill(7));
      const taken = [];
      for (let n = 0; n < 4; n++)
        taken.push((await client.results.take(id, { executionId }))?.bytes.length);
      assert.deepEqual(taken, [results[0]?.length, 1_000_000, 4, undefined]);
    });

    test('remembers, atomically', async () => {
      const id = await register(
        `
        await Promise.all(Array.from({ length: 5 }, () =>
          updateState(({ seen = 0 }) => ({ seen: seen + 1, was: getContext().state.seen ?? 0 }))));
        `,
        { stateless: false },
      );
      const { executionIds } = await client.reactors.sendMany(id, [1, 2]);
      for (const each of executionIds)
        assert.equal((await client.executions.untilOver(id, each)).exitCode, 0);
      assert.deepEqual((await client.states.get(id)).state, { seen: 10, was: 5 });
    });
  });
});

interface Given {
  readonly baseUrl: string;
  readonly token: string;
  readonly reactorId: string;
}

/** Runs in the page. */
async function inPage({ baseUrl, token, reactorId }: Given) {
  const address = '/index.js';
  const { ReactordClient: Client }: typeof import('../src/index.ts') = await import(address);
  // Interfaces of containers come and go all the time beside this test.
  const client = new Client({ baseUrl, auth: token, retry: { retries: 30, longestPauseMs: 500 } });
  const { username } = await client.users.me();
  const bytes = new TextEncoder().encode('from a page');
  const { executionId } = await client.reactors.send(reactorId, bytes);
  const log = client.executions.followLogs(reactorId, executionId);
  let text = '';
  for await (const line of log) text += line.text;
  const answer = await client.reactors.send(reactorId, new Blob(['a blob']), { wait: 30 });
  const refusal = await client.reactors.get('nothing').catch(String);
  const listed = (await client.executions.list(reactorId, { limit: 1 }).toArray(2)).length;
  return { username, text, end: log.end, answer: answer.log, refusal, listed };
}
