import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { isExpected } from './expected.ts';
import { readPage } from './page.ts';
import { runPage } from './run-page.ts';

/** A test that cannot fail proves nothing: here pages are wrong, and it must say so. */
describe('the test of the pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-pages-'));
  after(() => rmSync(folder, { recursive: true }));
  const pageOf = (...lines: readonly string[]) => {
    const path = join(folder, 'page.md');
    writeFileSync(path, `${lines.join('\n')}\n`.replaceAll("'''", '```'));
    return readPage(path);
  };
  const run = (...lines: readonly string[]) =>
    runPage(pageOf(...lines), {
      environment: { PATH: process.env['PATH'] },
      addresses: new Map([['127.0.0.1:8080', '127.0.0.1:1']]),
      service: 'http://127.0.0.1:1',
      approve: async () => {},
    });

  test('lets variables live on, also in other languages, and moves nothing but addresses', async () => {
    await run(
      "'''sh",
      'A=one',
      "'''",
      "'''python",
      "import os; print(os.environ['A'], '8080')",
      "'''",
      "'''text",
      'one 8080',
      "'''",
      "'''js",
      'const a = process.env.A;',
      "'''",
      "'''ts",
      'const a: string = `${process.env.A} again`;',
      'console.log(a);',
      "'''",
      "'''text",
      'one again',
      "'''",
      "'''console",
      '$ echo "$A at 127.0.0.1:8080"',
      'one at 127.0.0.1:8080',
      '$ echo two',
      'two',
      "'''",
    );
  });

  test('fails where a command fails, and says where', async () => {
    const wrong = run("'''sh", 'true', "'''", '', "'''sh", 'echo before; false; echo after', "'''");
    await assert.rejects(wrong, /page\.md:5: exit code 1[\s\S]*before\n/);
    await assert.rejects(run("'''sh", "echo 'open", "'''"), /exit code 2/);
    await assert.rejects(run("'''ts", 'throw new Error("no");', "'''"), /page\.md:1: exit code 1/);
  });

  test('fails where something else is printed', async () => {
    const wrong = run("'''sh", 'echo one', "'''", "'''text", 'two', "'''");
    await assert.rejects(wrong, /page\.md:1[\s\S]*was to print\ntwo\n--- printed\none/);
    await assert.rejects(run("'''console", '$ echo one', 'two', "'''"), /was to print/);
  });

  test('refuses blocks that nobody runs and that do not say what they are', () => {
    assert.throws(() => pageOf("'''bash", 'true', "'''"), /kind "bash"/);
    assert.throws(() => pageOf("'''", 'true', "'''"), /kind ""/);
    assert.throws(() => pageOf("'''sh", 'true'), /has no end/);
    assert.throws(() => pageOf('<!-- test: types "x" -->'), /nothing follows/);
  });

  test('lists what is not run, with its reason', () => {
    const page = pageOf("'''sh", '# Not run by the tests: it needs a domain', 'x', "'''");
    assert.deepEqual(page.notRun, [{ line: 1, reason: 'it needs a domain' }]);
    assert.equal(page.steps.length, 0);
  });

  test('takes … for anything, and ids, codes and passwords for others of their kind', () => {
    assert.ok(isExpected('a 1 b\n', 'a … b'));
    assert.ok(isExpected('a\nb\nc', 'a\n…\nc'));
    assert.ok(isExpected('a\nc', 'a\n…\nc'));
    assert.ok(!isExpected('a\nb\nc', 'a\nc'));
    assert.ok(!isExpected('a\nb', 'a'));
    assert.ok(isExpected('id 2vLpr6kCb3atVC.', 'id S99fCaU7jkbjfF.'));
    assert.ok(!isExpected('id none.', 'id S99fCaU7jkbjfF.'));
  });
});
