import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { findImports } from '../../checks/find-imports.ts';
import { checkImports } from '../../checks/imports.ts';

/** Checks a tree that holds these files under packages/server/src. */
function check(test: TestContext, files: Readonly<Record<string, string>>): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), 'reactord-imports-'));
  test.after(() => rmSync(root, { recursive: true }));
  for (const [name, source] of Object.entries(files)) {
    const path = join(root, name.startsWith('packages/') ? name : `packages/server/src/${name}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, source);
  }
  return checkImports(root);
}

describe('the check of imports', () => {
  it('accepts imports that run down', (test) => {
    const wrong = check(test, {
      'main.ts': `import './http/app.ts';\nimport './engines/docker/client.ts';`,
      'http/app.ts': `import fastify from 'fastify';\nimport '../oauth/routes.ts';`,
      'oauth/routes.ts': `import type { FastifyInstance } from 'fastify';\nimport '../identity/users.ts';`,
      'identity/users.ts': `import '../store/store.ts';\nimport '../errors.ts';`,
      'store/store.ts': `import './sqlite/open.ts';`,
      'store/sqlite/open.ts': `import '../../config.ts';`,
      'engines/docker/client.ts': `import type { Engine } from '../engine.ts';`,
      'engines/engine.ts': '',
      'errors.ts': '',
      'config.ts': '',
    });
    assert.deepEqual(wrong, []);
  });

  it('refuses a circle and names the way around it, imports of types included', (test) => {
    const wrong = check(test, {
      'identity/users.ts': `import { role } from './roles.ts';`,
      'identity/roles.ts': `export * from './grants.ts';`,
      'identity/grants.ts': `import type { User } from './users.ts';`,
    });
    assert.equal(wrong.length, 1);
    const at = 'packages/server/src/identity';
    assert.match(wrong[0] ?? '', /must not run in a circle/);
    for (const name of ['users', 'roles', 'grants'])
      assert.ok(wrong[0]?.includes(`${at}/${name}.ts`));
  });

  const refused: readonly [what: string, from: string, source: string, rule: RegExp][] = [
    ['an import that runs up', 'store/store.ts', `import '../http/app.ts';`, /"store" .* "http"/],
    [
      'a type from above',
      'errors.ts',
      `import type { App } from './http/app.ts';`,
      /"errors\.ts" .* "http"/,
    ],
    [
      'an import() from above',
      'identity/users.ts',
      `await import('../oauth/token.ts');`,
      /"identity" .* "oauth"/,
    ],
    [
      "Docker outside of the engines' folder",
      'executions/run.ts',
      `import '../engines/docker/client.ts';`,
      /"executions" .* "engines\/docker"/,
    ],
    [
      'SQLite outside of the store, by the address of a worker',
      'main.ts',
      `new Worker(new URL('./store/sqlite/writer-thread.ts', import.meta.url));`,
      /"main\.ts" .* "store\/sqlite"/,
    ],
    [
      'Fastify in the domain',
      'reactors/register.ts',
      `import type { FastifyRequest } from 'fastify';`,
      /may know Fastify/,
    ],
    ["Fastify's plugins in the domain", 'store/store.ts', `import '@fastify/cors';`, /Fastify/],
    ['a folder that is not in the table', 'helpers/text.ts', '', /"helpers" is not in checks/],
    [
      'a file of another package',
      'main.ts',
      `import '../../client/src/client.ts';`,
      /inside its own package/,
    ],
    [
      'the server in the command line',
      'packages/cli/src/send.ts',
      `import { x } from '@reactord/server';`,
      /"cli" may not use the package "server"/,
    ],
  ];
  for (const [what, from, source, rule] of refused) {
    it(`refuses ${what}`, (test) => {
      const wrong = check(test, { [from]: source });
      assert.equal(wrong.length, 1, wrong.join('\n'));
      assert.ok(wrong[0]?.includes(from));
      assert.match(wrong[0] ?? '', rule);
    });
  }
});

describe('finding imports', () => {
  it('sees every form', () => {
    const source = `
      import a, { type B } from './a.ts';
      import type {
        C, // of many lines
      } from "./c.ts";
      import './side-effect.ts';
      export { d } from './d.ts';
      export * as e from './e.ts';
      type F = import('./f.ts').F;
      const g = await import(
        './g.ts'
      );
      new Worker(new URL('./h.ts', import.meta.url));
      const text = \`\${{ i: await import('./i.ts') }.i} and \${'more'}\`;
    `;
    const names = ['a', 'c', 'side-effect', 'd', 'e', 'f', 'g', 'h', 'i'];
    assert.deepEqual([...findImports(source)].sort(), names.map((name) => `./${name}.ts`).sort());
  });

  it('is not misled by comments, texts and regular expressions', () => {
    const source = `
      // import './comment.ts';
      /* export * from './comment.ts'; */
      const a = "import './text.ts'";
      const b = \`import './template.ts' \${'x'} import './template.ts'\`;
      const c = /['"\`]/.test(a) || /[/'] import\\('x'\\)/.test(b);
      const address = 'https://example.org'; import './real.ts';
      const d = a.from('./call.ts');
    `;
    assert.deepEqual(findImports(source), ['./real.ts']);
  });
});
