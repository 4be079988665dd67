import type { Engine } from './engines/engine.ts';
import type { FirstAdmin } from './identity/first-admin.ts';

export interface GreetingFacts {
  readonly address: string;
  /** Only at the first start. */
  readonly admin: FirstAdmin | undefined;
  readonly passwordWasGiven: boolean;
  /** What is missing, in one sentence; undefined when the engine answers. */
  readonly engineProblem: string | undefined;
}

/** What a person reads after the start. */
export function greeting({
  address,
  admin,
  passwordWasGiven,
  engineProblem,
}: GreetingFacts): string {
  const lines = ['', `  reactord is running at ${address}`, ''];
  if (admin !== undefined) {
    const note = passwordWasGiven ? '(as you set it)' : '(shown this once; keep it)';
    const shown = passwordWasGiven ? '••••••••' : admin.password;
    lines.push(`  Admin      ${admin.username}`, `  Password   ${shown}  ${note}`, '');
    lines.push(
      '  Try next: what is there, a first application with its key and secret, every operation',
      ...nextCommands(address, admin.username).map((command) => `    ${command}`),
      '',
    );
  }
  if (engineProblem !== undefined) lines.push(`  Reactors cannot run yet. ${engineProblem}`, '');
  return `${lines.join('\n')}\n`;
}

/** They work as they stand: curl asks for the password, so that it does not end up in the shell's history. */
function nextCommands(address: string, username: string): readonly string[] {
  return [
    `curl '${address}/ready?pretty'`,
    `curl -u ${username} -d clientName=first '${address}/clients/v2?pretty'`,
    `xdg-open ${address}/docs`,
  ];
}

/** What keeps the engine from its work, in one sentence; undefined when it answers. */
export async function problemOf(engine: Pick<Engine, 'ping'>): Promise<string | undefined> {
  try {
    await engine.ping();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
