import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/reactord', import.meta.url));

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  json(): ReturnType<typeof JSON.parse>;
}

export interface Running {
  readonly ended: Promise<Said>;
  /** What it has written so far. */
  output(): string;
  errors(): string;
  signal(name: NodeJS.Signals): void;
}

interface Wish {
  readonly input?: string | Uint8Array;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Somebody with a home of their own, who types commands. */
export class Person {
  readonly config = mkdtempSync(join(tmpdir(), 'reactord-cli-'));
  /** Said before every command. */
  environment: Readonly<Record<string, string>> = {};

  /** Runs `reactord …` in a pipe, as a script does. */
  run(words: readonly string[], wish: Wish = {}): Promise<Said> {
    return this.start(words, wish).ended;
  }

  start(words: readonly string[], wish: Wish = {}): Running {
    return this.#start(program, words, wish);
  }

  /** Runs it on a terminal of 100 columns, where both streams come back as one. */
  onTerminal(line: string): Promise<Said> {
    return this.startOnTerminal(line).ended;
  }

  startOnTerminal(line: string): Running {
    const words = ['-qec', `stty cols 100; ${program} ${line}`, '/dev/null'];
    const running = this.#start('script', words, { environment: { TERM: 'xterm' } });
    const unix = (said: Said): Said => ({ ...said, stdout: said.stdout.replaceAll('\r\n', '\n') });
    return { ...running, ended: running.ended.then(unix) };
  }

  [Symbol.dispose](): void {
    rmSync(this.config, { recursive: true, force: true });
  }

  #start(file: string, words: readonly string[], { input, environment }: Wish): Running {
    const clean = Object.entries(process.env).filter(
      ([name]) => !/^(REACTORD_|NO_COLOR|FORCE_COLOR)/.test(name),
    );
    const child = spawn(file, words, {
      env: {
        ...Object.fromEntries(clean),
        XDG_CONFIG_HOME: this.config,
        ...this.environment,
        ...environment,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => out.push(piece));
    child.stderr.on('data', (piece: Buffer) => err.push(piece));
    child.stdin.on('error', () => undefined);
    if (file !== 'script') child.stdin.end(input ?? '');
    const output = () => Buffer.concat(out).toString();
    const errors = () => Buffer.concat(err).toString();
    const { promise, resolve, reject } = Promise.withResolvers<Said>();
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const stdout = output();
      resolve({
        code: code ?? (signal === 'SIGINT' ? 130 : 1),
        stdout,
        stderr: errors(),
        json: () => JSON.parse(stdout),
      });
    });
    return { ended: promise, output, errors, signal: (name) => child.kill(name) };
  }
}
