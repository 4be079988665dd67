import { readFileSync } from 'node:fs';

/** What a page has readers do, step by step, as the test does it. */
export interface Page {
  readonly path: string;
  readonly steps: readonly Step[];
  readonly notRun: readonly { readonly line: number; readonly reason: string }[];
  /** What the page asks of the test as a whole. */
  readonly wants: ReadonlySet<string>;
}

export interface Step {
  readonly line: number;
  readonly language: 'sh' | 'python' | 'ts';
  readonly text: string;
  /** What it must print: `…` stands for anything, on a line of its own for any lines. */
  readonly expected: string | undefined;
  /** It runs on beside the next steps, which begin when it has printed this. */
  readonly staysUntil: string | undefined;
  /** While it runs, a person opens the address of the service that it prints, logs in and approves. */
  readonly personApproves: boolean;
  /** What a person types. */
  readonly typed: string | undefined;
}

interface Block {
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly remarks: readonly string[];
}

const runnable: Readonly<Record<string, Step['language']>> = {
  sh: 'sh',
  python: 'python',
  js: 'ts',
  ts: 'ts',
};
/** Neither commands nor something that runs: what a reader looks at. */
const shown = new Set(['text', 'json', 'ini', 'nginx', 'mermaid', 'docker', 'http', 'caddy']);
const notRunMark = /^(?:#|\/\/) Not run by the tests: (.{10,})$/m;

/**
 * Reads a page. `sh`, `python`, `js` and `ts` are run. `console` is a recording: its lines with `$ ` are run, those between
 * are what they print. A `text` right behind what is run is its output. Every other block must say what it is.
 */
export function readPage(path: string): Page {
  const { blocks, pageRemarks } = readBlocks(readFileSync(path, 'utf8'), path);
  const steps: Step[] = [];
  const notRun: { line: number; reason: string }[] = [];
  let last: Step | undefined;
  for (const block of blocks) {
    const reason = notRunMark.exec(block.text)?.[1];
    if (reason !== undefined) {
      notRun.push({ line: block.line, reason });
      last = undefined;
      continue;
    }
    if (block.language === 'text' && last !== undefined && last.expected === undefined) {
      steps[steps.length - 1] = { ...last, expected: block.text };
      last = undefined;
      continue;
    }
    const made = stepsOf(block, path);
    steps.push(...made);
    last = made.at(-1);
  }
  return { path, steps, notRun, wants: new Set(pageRemarks) };
}

function stepsOf(block: Block, path: string): readonly Step[] {
  if (block.language === 'console') return recording(block);
  const language = runnable[block.language];
  if (language !== undefined) return [stepOf(block, language, block.text, block.line)];
  if (shown.has(block.language)) return [];
  throw new Error(
    `${path}:${block.line}: a block of kind "${block.language}" is neither run (sh, python, js, ts, console) nor known to be no command (${[...shown].join(', ')}).`,
  );
}

function stepOf(
  { remarks }: Block,
  language: Step['language'],
  text: string,
  line: number,
  expected?: string,
): Step {
  const saying = (pattern: RegExp) =>
    remarks.map((remark) => pattern.exec(remark)?.[1]).find((found) => found !== undefined);
  return {
    line,
    language,
    text,
    expected,
    staysUntil: saying(/^stays running until "(.+)"$/),
    personApproves: remarks.includes('a person opens the address and approves'),
    typed: saying(/^types "(.+)"$/)?.replaceAll('\\n', '\n'),
  };
}

function recording(block: Block): readonly Step[] {
  const parts = block.text.split(/^\$ /m);
  let line = block.line + (parts[0]?.split('\n').length ?? 1) - 1;
  return parts.slice(1).map((part) => {
    line += 1;
    const [command = '', ...output] = part.split('\n');
    const step = stepOf(block, 'sh', command, line, output.join('\n'));
    line += output.length - 1;
    return step;
  });
}

/** Fenced blocks with the remarks for the test (`<!-- test: … -->`) that stand before them. */
function readBlocks(
  markdown: string,
  path: string,
): { blocks: readonly Block[]; pageRemarks: readonly string[] } {
  const blocks: Block[] = [];
  const pageRemarks: string[] = [];
  let remarks: string[] = [];
  let open: { line: number; language: string; indent: string; lines: string[] } | undefined;
  for (const [at, line] of markdown.split('\n').entries()) {
    const fence = /^(\s*)```(.*)$/.exec(line);
    if (open !== undefined) {
      if (fence === null) {
        open.lines.push(line.slice(open.indent.length));
        continue;
      }
      blocks.push({ ...open, text: open.lines.join('\n'), remarks });
      open = undefined;
      remarks = [];
    } else if (fence !== null) {
      open = { line: at + 1, language: fence[2]?.trim() ?? '', indent: fence[1] ?? '', lines: [] };
    }
    const remark = /^<!-- test: (.+) -->$/.exec(line)?.[1];
    if (remark?.startsWith('this page ')) pageRemarks.push(remark.slice('this page '.length));
    else if (remark !== undefined) remarks.push(remark);
  }
  if (open !== undefined) throw new Error(`${path}:${open.line}: the block has no end.`);
  if (remarks.length > 0) throw new Error(`${path}: nothing follows "${remarks.join('", "')}".`);
  return { blocks, pageRemarks };
}
