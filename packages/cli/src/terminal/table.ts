import type picocolors from 'picocolors';
import { harmless } from './words.ts';

type Colours = ReturnType<typeof picocolors.createColors>;

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** In a pipe: what a program reads more easily, as the exact time. */
  readonly plain?: (row: Row) => string | null;
  /** On a terminal only. */
  readonly paint?: (text: string, row: Row, colours: Colours) => string;
  /** May be cut where the terminal is narrow. */
  readonly flexible?: boolean;
  readonly right?: boolean;
}

interface Shown {
  readonly width: number;
  readonly colours: Colours;
}

const gap = '  ';
const narrowest = 8;

/** Tabs between the cells, no titles: for cut and awk. */
export function plainTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  return rows
    .map(
      (row) =>
        `${columns.map((column) => harmless((column.plain ?? column.text)(row) ?? '')).join('\t')}\n`,
    )
    .join('');
}

export function shownTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, colours }: Shown,
): string {
  const cells = rows.map((row) => columns.map((column) => harmless(column.text(row))));
  const widths = columns.map((column, at) =>
    Math.max(column.title.length, ...cells.map((line) => displayWidth(line[at] ?? ''))),
  );
  shrink(widths, columns, width);
  const last = columns.length - 1;
  const place = (text: string, at: number): string => {
    const cut = cutTo(text, widths[at] ?? 0);
    if (columns[at]?.right) return padStart(cut, widths[at] ?? 0);
    return at === last ? cut : padEnd(cut, widths[at] ?? 0);
  };
  const head = columns.map((column, at) => colours.dim(place(column.title, at))).join(gap);
  const body = rows.map((row, line) =>
    columns
      .map((column, at) => {
        const text = place(cells[line]?.[at] ?? '', at);
        return column.paint?.(text, row, colours) ?? text;
      })
      .join(gap)
      .trimEnd(),
  );
  return `${[head.trimEnd(), ...body].join('\n')}\n`;
}

/** Takes from the widest of those that may be cut, until all fits. */
function shrink<Row>(widths: number[], columns: readonly Column<Row>[], most: number): void {
  const whole = () =>
    widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1);
  while (whole() > most) {
    const widest = columns
      .map((column, at) => ({ at, width: column.flexible ? (widths[at] ?? 0) : 0 }))
      .sort((one, other) => other.width - one.width)[0];
    if (widest === undefined || widest.width <= narrowest) return;
    widths[widest.at] = widest.width - 1;
  }
}

/** Made when a text needs it: it loads tables that most commands have no use for. */
let segmenter: Intl.Segmenter | undefined;

function charactersOf(text: string): Iterable<{ readonly segment: string }> {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of charactersOf(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const { segment } of charactersOf(text)) {
    used += wide.test(segment) ? 2 : 1;
    if (used > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

const padEnd = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - displayWidth(text)));
const padStart = (text: string, width: number): string =>
  ' '.repeat(Math.max(0, width - displayWidth(text))) + text;
