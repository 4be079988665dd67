import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinModules } from './modules.ts';
import type { Step } from './page.ts';

/** Begins the output of each step; no program prints it. */
export const mark = (step: number): string => `\u001e${step}\u001e`;

/**
 * One shell runs a whole page, so that variables live on. `set -a` exports them: programs of other languages see them
 * too. Steps stand in files of their own, which the shell reads in, so that a broken quote stays in its step.
 */
export function writeScript(folder: string, steps: readonly Step[]): string {
  const lines = ['set -e -a', 'exec 2>&1', '_stays=', cleanUp];
  for (let at = 0; at < steps.length; at += 1) {
    const modules = steps.slice(at).findIndex(({ language }) => language !== 'ts');
    const count = modules === -1 ? steps.length - at : modules;
    if (count > 0) {
      lines.push(runModules(folder, steps.slice(at, at + count), at));
      at += count - 1;
      continue;
    }
    const step = steps[at];
    if (step !== undefined) lines.push(printMark(at), ...commandsOf(folder, step, at));
  }
  const file = join(folder, 'page.sh');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

const printMark = (at: number): string => `printf '%s\\n' '${mark(at)}'`;

/** What stays running ends with the page, as when a reader closes the terminal. */
const cleanUp = `_end() {
  # Nothing from here on is a step's.
  printf '\\036'
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
  return step.language === 'python'
    ? [`python3 '${file}' <'${input}'`]
    : [`. '${file}' <'${input}'`];
}

/** Blocks of JavaScript and TypeScript that follow each other are one program, in which names live on. */
function runModules(folder: string, steps: readonly Step[], first: number): string {
  const file = join(folder, `modules-${first}.ts`);
  writeFileSync(file, joinModules(steps.map(({ text }, at) => ({ text, mark: mark(first + at) }))));
  // Read from standard input, packages are looked for from the folder of the project.
  return `node --input-type=module-typescript --no-warnings - <'${file}'`;
}

function staysRunning(file: string, phrase: string): readonly string[] {
  const log = `${file}.log`;
  return [
    // A group of its own, which can be ended as a whole.
    `setsid sh -e '${file}' >'${log}' 2>&1 </dev/null & _last=$!`,
    `_stays="$_stays $_last"`,
    '_waited=0',
    `until grep -q '${phrase.replaceAll("'", "'\\''")}' '${log}'; do`,
    `  kill -0 "$_last" 2>/dev/null && [ $_waited -lt 600 ] || { cat '${log}'; echo 'It did not start.'; exit 1; }`,
    '  _waited=$((_waited + 1)); sleep 0.1',
    'done',
    `cat '${log}'`,
    // What a reader copies from there.
    `_shown=$(sed -n 's/^ *Password  *\\([^ ]*\\)  (shown this once.*/\\1/p' '${log}')`,
    `[ -z "$_shown" ] || PASSWORD=$_shown`,
  ];
}
