import { execFile } from 'node:child_process';
import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import type { Operands } from '../run.ts';
import { counted } from '../terminal/words.ts';
import { serverProgram } from './local-server.ts';
import { checkService, type Finding } from './service-checks.ts';

interface Options {
  readonly remote?: boolean;
  readonly local?: boolean;
}

export async function doctor(
  context: Context,
  operands: Operands,
  options: Options,
): Promise<void> {
  const { remote, local } = options;
  const settings = operands.filter((each) => each !== undefined);
  const program = remote ? undefined : serverProgram();
  if (local && program === undefined)
    throw new CommandFailure('failed', 'The service is not installed on this machine.');
  // Settings say which service of this machine is meant; whose login it is has nothing to do with them.
  const asksService =
    !local && (remote || program === undefined || context.profile() !== undefined);
  const [here, there] = await Promise.all([
    program === undefined ? [] : askServer(program, settings),
    asksService ? checkService(context) : [],
  ]);
  const findings = [
    ...here.map((each) => ({ ...each, where: 'this machine' })),
    ...there.map((each) => ({ ...each, where: context.server })),
  ];
  show(context, findings);
  const wrong = findings.filter(({ state }) => state === 'wrong').length;
  if (wrong > 0)
    throw new CommandFailure('failed', `${counted(wrong, 'thing is', 'things are')} wrong.`);
}

function askServer(program: string, settings: readonly string[]): Promise<readonly Finding[]> {
  return new Promise((resolve, reject) => {
    const words = [program, 'doctor', '--json', ...settings];
    execFile(process.execPath, words, { timeout: 60_000 }, (error, stdout, stderr) => {
      try {
        const { checks } = JSON.parse(stdout);
        resolve(checks);
      } catch {
        const reason = stderr.trim() || error?.message || 'it said nothing';
        reject(new CommandFailure('failed', `The service's own checks did not run: ${reason}`));
      }
    });
  });
}

function show(
  { output }: Context,
  findings: readonly (Finding & { readonly where: string })[],
): void {
  if (output.isJson) {
    output.json({ ok: findings.every(({ state }) => state !== 'wrong'), checks: findings });
    return;
  }
  const { colours } = output;
  const marks = {
    ok: colours.green('✔'),
    warning: colours.yellow('!'),
    wrong: colours.red('✖'),
  } as const;
  let where = '';
  for (const finding of findings) {
    if (!output.isTerminal) {
      output.line([finding.state, finding.check, finding.found, finding.todo].join('\t'));
      continue;
    }
    if (finding.where !== where)
      output.line(`${where === '' ? '' : '\n'}${colours.bold(finding.where)}`);
    where = finding.where;
    output.line(`${marks[finding.state]} ${finding.check.padEnd(24)} ${finding.found}`);
    if (finding.todo !== '') output.line(`${' '.repeat(27)}${colours.cyan(finding.todo)}`);
  }
}
