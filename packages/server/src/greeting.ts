import type { Engine } from './engines/engine.ts';
import type { FirstAdmin } from './identity/first-admin.ts';

export interface GreetingFacts {
  readonly address: string;
  /** Only at the first start. */
  readonly admin: FirstAdmin | undefined;
  readonly passwordWasGiven: boolean;
  /** What is missing, in one sentence; undefined when the engine answers. */
  readonly engineProblem: string | undefined;
  /** Whether the engine has the sample image. */
  readonly hasHello: boolean;
}

/** The sample that `npm start` builds where it can. */
const helloImage = 'reactord/hello';

/** What a person reads after the start. */
export function greeting({
  address,
  admin,
  passwordWasGiven,
  engineProblem,
  hasHello,
}: GreetingFacts): string {
  const lines = ['', `  reactord is running at ${address}`, ''];
  if (admin !== undefined) {
    const note = passwordWasGiven ? '(as you set it)' : '(shown this once; keep it)';
    const shown = passwordWasGiven ? '••••••••' : admin.password;
    lines.push(`  Admin      ${admin.username}`, `  Password   ${shown}  ${note}`, '');
    lines.push('  Try next, in another terminal:');
    lines.push(...nextCommands(address, hasHello).map((command) => `    ${command}`), '');
    lines.push(`  Every operation, with examples: ${address}/docs`, '');
  }
  if (engineProblem !== undefined) lines.push(`  Reactors cannot run yet. ${engineProblem}`, '');
  return `${lines.join('\n')}\n`;
}

/** From here to the first line of a container of one's own. They work as they stand, in the folder of the service. */
function nextCommands(address: string, hasHello: boolean): readonly string[] {
  return [
    ...(hasHello ? [] : ['npm run samples -- hello']),
    `npx reactord login ${address}`,
    `npx reactord reactors create ${helloImage} --name hello`,
    'npx reactord send hello world --follow',
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

/** Whether the engine has the image that a first start offers. */
export async function hasHello(engine: Pick<Engine, 'findImage'>): Promise<boolean> {
  return engine.findImage(helloImage).then(
    (found) => found !== undefined,
    () => false,
  );
}
