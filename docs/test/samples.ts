import { execFile } from 'node:child_process';
import { root } from './run-page.ts';

/** `npm run samples -- …`: its exit code and all that it said. */
export function buildSamples(...words: readonly string[]): Promise<{ code: number; said: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number; said: string }>();
  execFile(
    process.execPath,
    ['setup/samples.ts', ...words],
    { cwd: root, maxBuffer: 2 ** 24 },
    (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, said: stdout + stderr }),
  );
  return promise;
}
