import { spawnSync } from 'node:child_process';

/** npm run lint: every check that reads the source without running it. All of them run, so that one look shows all. */

interface Check {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
}

const checks: readonly Check[] = [
  { name: 'format and lint (biome)', command: ['biome', 'check', '.'] },
  { name: 'imports run one way', command: [process.execPath, 'checks/imports.ts'] },
  { name: 'npm ci takes the lock file', command: [process.execPath, 'checks/lock-file.ts'] },
  { name: 'no dead code (knip)', command: ['knip', '--no-progress'] },
  {
    name: 'reference pages and client types match the code',
    command: [process.execPath, 'checks/reference-pages.ts'],
  },
];

const failed = checks.filter(({ name, command: [program, ...args] }) => {
  process.stderr.write(`— ${name}\n`);
  // setup/run has put the programs of the packages into PATH.
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (error !== undefined) process.stderr.write(`${program}: ${error.message}\n`);
  return status !== 0;
});

if (failed.length > 0) {
  process.stderr.write(`failed: ${failed.map(({ name }) => name).join('; ')}\n`);
  process.exitCode = 1;
}
