import { type ChildProcess, spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { say } from './say.ts';
import {
  installTestPackages,
  type RunningServer,
  startTestServer,
  testPackages,
  testServers,
} from './test-servers.ts';

/**
 * npm test: installs and starts what the tests need, runs the tests with their addresses in the environment, and stops
 * what it started. Words narrow it to the test files whose path holds one of them; options go to `node --test`.
 * `--kind=faults` and `--kind=slow` run the tests that take long, in files of that ending, instead.
 */

const kinds = {
  test: {
    files: ['packages/*/test/**/*.test.ts', 'setup/test/**/*.test.ts', 'docs/test/**/*.test.ts'],
    limitMs: 600_000,
  },
  slow: { files: ['packages/*/test/**/*.slow.ts', 'docs/test/**/*.slow.ts'], limitMs: 1_200_000 },
  faults: { files: ['packages/*/test/**/*.faults.ts'], limitMs: 2_400_000 },
} as const;

/** `limitMs`: a test that hangs fails after this; so does a file of tests. */
type Kind = (typeof kinds)[keyof typeof kinds];

function kindOf(options: readonly string[]): Kind {
  const named = options.find((option) => option.startsWith(kindFlag))?.slice(kindFlag.length);
  if (named === 'slow' || named === 'faults') return kinds[named];
  return kinds.test;
}

const kindFlag = '--kind=';

class Interruption {
  code: number | undefined;
  tests: ChildProcess | undefined;

  constructor() {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const) {
      process.on(signal, () => {
        this.code = code;
        this.tests?.kill('SIGTERM');
      });
    }
  }
}

function selectFiles(kind: Kind, words: readonly string[]): readonly string[] {
  const all = globSync([...kind.files]).sort();
  return words.length === 0 ? all : all.filter((path) => words.some((word) => path.includes(word)));
}

function runTests(
  files: readonly string[],
  limitMs: number,
  options: readonly string[],
  addresses: NodeJS.ProcessEnv,
  interruption: Interruption,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const standard = [
    '--test',
    // Files run beside each other, and most of them talk to servers that need a core themselves.
    '--test-concurrency=4',
    `--test-timeout=${limitMs}`,
    '--test-reporter=spec',
  ];
  const tests = spawn(process.execPath, [...standard, ...options, ...files], {
    stdio: 'inherit',
    env: { ...process.env, ...addresses },
  });
  interruption.tests = tests;
  tests.once('error', reject);
  tests.once('exit', (code) => resolve(code ?? 1));
  return promise;
}

async function main(args: readonly string[]): Promise<number> {
  const interruption = new Interruption();
  const kind = kindOf(args);
  const options = args.filter((arg) => arg.startsWith('-') && !arg.startsWith(kindFlag));
  const words = args.filter((arg) => !arg.startsWith('-'));
  const files = selectFiles(kind, words);
  if (files.length === 0) {
    say(`no test file has ${words.map((word) => `"${word}"`).join(' or ')} in its path.`);
    return 1;
  }

  const running: RunningServer[] = [];
  const addresses: NodeJS.ProcessEnv = {};
  const missing: string[] = [];
  const provide = async (name: string, work: () => Promise<void>) => {
    if (interruption.code !== undefined) return;
    try {
      await work();
    } catch (error) {
      missing.push(name);
      say(error instanceof Error ? error.message : String(error));
    }
  };
  try {
    // One after the other: two installations would only wait for each other's lock.
    for (const server of testServers)
      await provide(server.name, async () => {
        const started = await startTestServer(server);
        running.push(started);
        addresses[server.variable] = started.address;
      });
    for (const packages of testPackages)
      await provide(packages.name, () => installTestPackages(packages));
    if (interruption.code !== undefined) return interruption.code;
    const code = await runTests(files, kind.limitMs, options, addresses, interruption);
    if (missing.length > 0) say(`tested without ${missing.join(' and ')}; the reason is above.`);
    return interruption.code ?? code;
  } finally {
    await Promise.all(running.map((server) => server.stop()));
  }
}

process.exitCode = await main(process.argv.slice(2));
