import { spawn } from 'node:child_process';

export interface CommandResult {
  readonly code: number;
  /** Standard output and standard error, as they came. */
  readonly output: string;
}

/** Runs a program to its end and keeps what it says. A program that is not there has code 127, as in a shell. */
export function runCommand(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  user: { readonly uid?: number; readonly gid?: number } = {},
): Promise<CommandResult> {
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  const child = spawn(program, args, {
    env: { ...systemEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.on('error', (error) => resolve({ code: 127, output: error.message }));
  child.on('close', (code) => resolve({ code: code ?? 1, output }));
  return promise;
}

/**
 * What programs of the machine get: npm's variables and its folders in PATH are ours alone, and the sbin folders,
 * where daemons are, may be missing in a plain user's PATH.
 */
export function systemEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_)/i.test(name));
  const folders = (process.env['PATH'] ?? '')
    .split(':')
    .filter((folder) => !folder.endsWith('/node_modules/.bin'));
  const path = new Set([...folders, '/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin']);
  return { ...Object.fromEntries(own), PATH: [...path].join(':'), LC_ALL: 'C.UTF-8' };
}
