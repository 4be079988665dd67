import { CommanderError } from 'commander';
import { CommandFailure, exitCodes } from './exit-codes.ts';
import { buildProgram } from './program.ts';
import { harmless } from './terminal/words.ts';

/** The program `reactord`. */
async function main(): Promise<number> {
  // Whoever reads the output may have had enough: `reactord logs … | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? exitCodes.ok.code : exitCodes.failed.code);
  });
  const [word, ...rest] = process.argv.slice(2);
  try {
    if (word === 'complete') return await answerShell(rest);
    if (word === 'users' && rest[0] === '--local') return await localUsers(rest.slice(1));
    await buildProgram().parseAsync();
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return afterUsage(error);
    return afterFailure(error);
  }
}

/** What the completion scripts ask; the words come behind `--`. */
async function answerShell(words: readonly string[]): Promise<number> {
  const { complete } = await import('./completion.ts');
  process.stdout.write(await complete(buildProgram(), words.slice(1)));
  return exitCodes.ok.code;
}

/** The operator's own command, which needs no login. */
async function localUsers(words: readonly string[]): Promise<never> {
  const { becomeServer } = await import('./actions/local-server.ts');
  return becomeServer(['users', ...words]);
}

/** Help that was asked for is well; help instead of a command is not. Commander has said the rest. */
function afterUsage(error: CommanderError): number {
  return error.exitCode === 0 ? exitCodes.ok.code : exitCodes.usage.code;
}

function afterFailure(error: unknown): number {
  if (!(error instanceof CommandFailure)) {
    process.stderr.write(`reactord: ${error instanceof Error ? error.stack : String(error)}\n`);
    return exitCodes.failed.code;
  }
  process.stderr.write(`reactord: ${harmless(error.message)}\n`);
  if (error.next !== undefined) process.stderr.write(`  ${error.next}\n`);
  return exitCodes[error.ending].code;
}

process.exitCode = await main();
