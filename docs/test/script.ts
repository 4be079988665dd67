import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Step } from './page.ts';

/** Begins the output of each step; no program prints it. */
export const mark = (step: number): string => `\u001e${step}\u001e`;

/**
 * One shell runs a whole page, so that variables live on. `set -a` exports them: programs of other languages see them
 * too. Steps stand in files of their own, which the shell reads in, so that a broken quote stays in its step.
 */
export function writeScript(folder: string, steps: readonly Step[]): string {
  const lines = ['set -e -a', 'exec 2>&1', `_stays=`, cleanUp];
  for (const [at, step] of steps.entries()) {
    lines.push(`printf '%s\\n' '${mark(at)}'`, ...commandsOf(folder, step, at));
  }
  const file = join(folder, 'page.sh');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

/** What stays running ends with the page, as when a reader closes the terminal. */
const cleanUp = `_end() {
  for _each in $_stays; do kill -s TERM -- "-$_each" || :; done
  for _each in $_stays; do
    wait "$_each" || :
    # Those whose parent went first; one that nobody buries counts as there.
    _waited=0
    while kill -s 0 -- "-$_each" 2>/dev/null && [ $_waited -lt 200 ]; do
      _waited=$((_waited + 1)); sleep 0.05
    done
  done
}
trap _end EXIT`;

function commandsOf(folder: string, step: Step, at: number): readonly string[] {
  const file = join(folder, `step-${at}`);
  writeFileSync(file, `${step.text}\n`);
  const input = step.typed === undefined ? '/dev/null' : join(folder, `typed-${at}`);
  if (step.typed !== undefined) writeFileSync(input, `${step.typed}\n`);
  if (step.staysUntil !== undefined) return staysRunning(file, step.staysUntil);
  switch (step.language) {
    case 'sh':
      return [`. '${file}' <'${input}'`];
    case 'python':
      return [`python3 '${file}' <'${input}'`];
    case 'js':
      // Read from standard input, modules are looked for from the folder of the project.
      return [`node --input-type=module - <'${file}'`];
  }
}

function staysRunning(file: string, phrase: string): readonly string[] {
  const log = `${file}.log`;
  return [
    // A group of its own, which can be ended as a whole.
    `setsid sh -e '${file}' >'${log}' 2>&1 </dev/null & _last=$!`,
    `_stays="$_stays $_last"`,
    `_waited=0`,
    `until grep -q '${phrase.replaceAll("'", "'\\''")}' '${log}'; do`,
    `  kill -0 "$_last" 2>/dev/null && [ $_waited -lt 600 ] || { cat '${log}'; echo 'It did not start.'; exit 1; }`,
    `  _waited=$((_waited + 1)); sleep 0.1`,
    `done`,
    `cat '${log}'`,
  ];
}
