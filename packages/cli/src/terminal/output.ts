import picocolors from 'picocolors';
import { type Column, plainTable, shownTable } from './table.ts';
import { harmless } from './words.ts';

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string | Uint8Array): unknown;
}

interface Streams {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
}

type Colours = ReturnType<typeof picocolors.createColors>;

/**
 * What a command says. Results go to standard output, everything else to standard error. With --json there is JSON on
 * standard output and nothing beside it; on a terminal there are tables and colours; in a pipe, plain lines with tabs.
 */
export class Output {
  readonly isJson: boolean;
  readonly isTerminal: boolean;
  /** Of standard output. */
  readonly colours: Colours;
  /** Of standard error. */
  readonly noteColours: Colours;
  readonly #streams: Streams;

  constructor(streams: Streams) {
    const { stdout, stderr, environment, json } = streams;
    this.#streams = streams;
    this.isJson = json;
    this.isTerminal = stdout.isTTY === true;
    this.colours = picocolors.createColors(takesColours(stdout, environment) && !json);
    this.noteColours = picocolors.createColors(takesColours(stderr, environment));
  }

  /** Whether somebody watches standard error: for progress. */
  get isWatched(): boolean {
    return this.#streams.stderr.isTTY === true && !this.isJson;
  }

  get width(): number {
    return this.#streams.stdout.columns ?? 80;
  }

  line(text = ''): void {
    this.#streams.stdout.write(`${text}\n`);
  }

  /** As it is, without a new line. */
  raw(content: string | Uint8Array): void {
    this.#streams.stdout.write(content);
  }

  /** One document. */
  json(value: unknown): void {
    this.line(JSON.stringify(value, null, this.isTerminal ? 2 : undefined));
  }

  /** One document of many, each on a line of its own. */
  jsonLine(value: unknown): void {
    this.line(JSON.stringify(value));
  }

  /** For people, beside the result: on standard error, and not with --json. */
  note(text: string): void {
    if (!this.isJson) this.#streams.stderr.write(`${text}\n`);
  }

  error(text: string): void {
    this.#streams.stderr.write(`${text}\n`);
  }

  errorRaw(content: string | Uint8Array): void {
    this.#streams.stderr.write(content);
  }

  /** Rows for people on a terminal, for cut and awk in a pipe, as an array with --json. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], whenEmpty: string): void {
    if (this.isJson) this.json(rows);
    else if (!this.isTerminal) this.raw(plainTable(rows, columns));
    else if (rows.length === 0) this.note(whenEmpty);
    else this.raw(shownTable(rows, columns, { width: this.width, colours: this.colours }));
  }

  /** One thing: name and value a line. */
  facts(value: unknown, facts: readonly Fact[]): void {
    if (this.isJson) {
      this.json(value);
      return;
    }
    const widest = Math.max(
      0,
      ...facts.map(([name, text]) => (text === undefined ? 0 : name.length)),
    );
    for (const [name, text, paint = (plain: string) => plain] of facts) {
      if (text === undefined) continue;
      const lines = text.split('\n').map((line) => paint(harmless(line)));
      if (!this.isTerminal) this.line(`${name}\t${lines.join(' ')}`);
      else {
        const indent = `\n${' '.repeat(widest + 2)}`;
        this.line(`${this.colours.dim(name.padEnd(widest))}  ${lines.join(indent)}`);
      }
    }
  }
}

/** Left out where there is no text. */
export type Fact = readonly [
  name: string,
  text: string | undefined,
  paint?: ((text: string) => string) | undefined,
];

/** https://no-color.org: set and not empty means no colours. */
function takesColours(stream: Stream, environment: Streams['environment']): boolean {
  if (environment['NO_COLOR']) return false;
  if (environment['FORCE_COLOR'] && environment['FORCE_COLOR'] !== '0') return true;
  return stream.isTTY === true && environment['TERM'] !== 'dumb';
}
