import { examine } from './examine.ts';
import type { Finding } from './finding.ts';

interface Invocation {
  /** `--json`, and settings as flags. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly output: { write(text: string): unknown };
}

const marks = { ok: 'ok     ', warning: 'warning', wrong: 'wrong  ' } as const;

/** `doctor`: what is wrong on this machine, and what to do. Returns the exit code: 1 when something is wrong. */
export async function doctorCommand({ words, environment, output }: Invocation): Promise<number> {
  const flags = words.filter((word) => word !== '--json');
  const findings = await examine({ flags, environment });
  const isWell = findings.every(({ state }) => state !== 'wrong');
  if (flags.length < words.length) {
    output.write(`${JSON.stringify({ ok: isWell, checks: findings })}\n`);
  } else {
    for (const finding of findings) output.write(lines(finding));
  }
  return isWell ? 0 : 1;
}

function lines({ check, state, found, todo }: Finding): string {
  const first = `${marks[state]}  ${check}: ${found}\n`;
  return todo === '' ? first : `${first}         ${todo}\n`;
}
