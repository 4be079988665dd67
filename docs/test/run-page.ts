import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { clearEngine } from '../../packages/server/test/harness/running-service.ts';
import { holdsExpected, isExpected } from './expected.ts';
import type { Page, Step } from './page.ts';
import { mark, writeScript } from './script.ts';

export const root = resolve(import.meta.dirname, '../..');

export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  /** Addresses as the pages have them, and where the test has them instead. Nothing else of a page is changed. */
  readonly addresses: ReadonlyMap<string, string>;
  /** What comes before the shell, such as a program that gives it other folders. */
  readonly within?: readonly string[];
  /** Opens an address of the service, logs in as the admin and approves. */
  approve(address: string, password: string | undefined): Promise<void>;
  /** Where the service is. */
  readonly service: string;
}

const limitMs = 240_000;

/** Runs a page as a reader would who types in everything, and compares what it prints. */
export async function runPage(page: Page, surroundings: Surroundings): Promise<void> {
  const { addresses, environment, within = [] } = surroundings;
  const steps = page.steps.map((step) => relocated(step, addresses));
  const folder = mkdtempSync(join(tmpdir(), 'reactord-page-'));
  const watcher = new Watcher(steps, surroundings);
  try {
    const [program = 'sh', ...args] = [...within, 'sh', writeScript(folder, steps)];
    const shell = spawn(program, args, {
      cwd: root,
      env: { ...environment, HOME: folder, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    const timer = setTimeout(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'), limitMs);
    shell.stdout.setEncoding('utf8').on('data', (text: string) => watcher.add(text));
    const [code] = await once(shell, 'close');
    clearTimeout(timer);
    await watcher.done();
    compare(page, steps, watcher.outputs(), code);
  } finally {
    // Further services that the page has started.
    for (const file of globSync('**/instance', { cwd: folder }))
      await clearEngine(join(folder, dirname(file)));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Follows the output, and lets the person act when an address comes that waits for one. */
class Watcher {
  readonly #steps: readonly Step[];
  readonly #surroundings: Surroundings;
  readonly #visited = new Set<string>();
  readonly #visits: Promise<void>[] = [];
  #text = '';

  constructor(steps: readonly Step[], surroundings: Surroundings) {
    this.#steps = steps;
    this.#surroundings = surroundings;
  }

  add(text: string): void {
    this.#text += text;
    const outputs = this.outputs();
    const at = outputs.length - 1;
    if (this.#steps[at]?.personApproves !== true) return;
    // A line that has ended: half an address is none.
    for (const [address] of (outputs[at] ?? '').matchAll(/https?:\/\/\S+(?=\s)/g)) {
      const { service, approve } = this.#surroundings;
      const path = address.startsWith(service) ? address.slice(service.length) : '';
      // With its code or its request: an address without asks for more than a visit.
      if (!/^\/(authorize|device)\?/.test(path) || this.#visited.has(address)) continue;
      this.#visited.add(address);
      const password = /^ *Password +(\S+) {2}\(shown this once/m.exec(this.#text)?.[1];
      this.#visits.push(approve(address, password));
    }
  }

  async done(): Promise<void> {
    await Promise.all(this.#visits);
  }

  outputs(): readonly string[] {
    return this.#steps
      .map((_, at) => this.#text.split(`${mark(at)}\n`)[1])
      .filter((rest) => rest !== undefined)
      .map((rest) => rest.split('\u001e')[0] ?? '');
  }
}

function compare(
  page: Page,
  steps: readonly Step[],
  outputs: readonly string[],
  code: unknown,
): void {
  const place = (at: number): string => `${page.path}:${steps[at]?.line}`;
  for (const [at, output] of outputs.entries()) {
    const step = steps[at];
    const failed = at === outputs.length - 1 && code !== 0;
    if (failed) assert.fail(`${place(at)}: exit code ${code}\n${step?.text}\n---\n${output}`);
    const { expected, staysUntil } = step ?? {};
    if (expected === undefined) continue;
    const fits = staysUntil === undefined ? isExpected : holdsExpected;
    assert.ok(
      fits(output, expected),
      `${place(at)}: ${step?.text}\n--- was to print\n${expected}\n--- printed\n${output}`,
    );
  }
  assert.equal(outputs.length, steps.length, `${page.path} ended early (${code})`);
}

/** The same step, at the test's addresses. */
function relocated(step: Step, addresses: ReadonlyMap<string, string>): Step {
  const move = (text: string): string => {
    let moved = text;
    for (const [from, to] of addresses) moved = moved.replaceAll(from, to);
    return moved;
  };
  const { expected } = step;
  return { ...step, text: move(step.text), expected: expected && move(expected) };
}
