import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openScene, type Scene } from '../../packages/server/test/harness/execution-scene.ts';
import { readSamples } from '../../setup/images/sample.ts';
import { buildSamples } from './samples.ts';

/** The guides use hello, node, webhook and wordcount as readers do; here is what they leave out. */
describe('npm run samples', () => {
  let scene: Scene;
  before(async () => {
    const { code, said } = await buildSamples('hello', 'echo', 'node', 'wordcount', 'webhook');
    assert.equal(code, 0, said);
    scene = await openScene();
  });
  after(() => scene?.dispose());

  test('builds nothing a second time', async () => {
    const { said } = await buildSamples('echo', 'node');
    assert.match(said, /^reactord\/echo +unchanged\nreactord\/node +unchanged\n$/);
  });

  test('says what there is to one who asks for something else', async () => {
    const [unknown, option] = await Promise.all([buildSamples('helo'), buildSamples('--all')]);
    assert.equal(unknown.code, 2);
    assert.match(unknown.said, /no sample helo; there are .*hello/);
    assert.equal(option.code, 2);
    assert.match(option.said, /no option --all; there is --local/);
  });

  test('every image has a public base, and the same one for the same kind', () => {
    const bases = new Map<string, string>();
    for (const { base, publicBase, name } of readSamples()) {
      assert.match(publicBase, /^docker\.io\/library\//);
      assert.equal(bases.get(base) ?? publicBase, publicBase, name);
      bases.set(base, publicBase);
    }
    assert.equal(bases.size, 3);
  });

  test('echo writes back text and bytes as they came, however large', async () => {
    const { admin } = scene;
    const echo = await admin.register({ image: 'reactord/echo' });
    const said = async (body: Uint8Array<ArrayBuffer>, type: string) => {
      const reply = await admin.post(echo, { body, type });
      const { executionId } = reply.json().result;
      await admin.ended(echo, executionId);
      const log = `/${echo}/executions/${executionId}/logs?stream=stdout`;
      return (await admin.call('GET', log)).json().result.logs;
    };
    const odd = 'two\n lines, "quotes", $HOME, `id`, ünïcödé \\n';
    assert.equal(await said(Buffer.from(odd), 'text/plain'), odd);
    const large = 'x'.repeat(200_000);
    assert.equal(await said(Buffer.from(large), 'text/plain'), large);
    assert.equal(await said(Buffer.from('raw'), 'application/octet-stream'), 'raw');
  });

  test('node and wordcount say in words what they cannot do', async () => {
    const { admin } = scene;
    const node = await admin.register({ image: 'reactord/node' });
    const refused = await admin.runOnce(node, 'no JSON');
    assert.equal(refused.record.exitCode, 1);
    assert.match(refused.log, /Send JSON such as/);
    const stateless = await admin.register({ image: 'reactord/wordcount' });
    const wordcount = await admin.runOnce(stateless, 'to be');
    assert.equal(wordcount.record.exitCode, 1);
    assert.match(wordcount.log, /stateless=false/);
  });
});
