import { type BenchResult, type BenchRow, passes } from './bench-result.ts';

const benches: Readonly<Record<string, () => Promise<{ run(): Promise<BenchResult> }>>> = {
  store: () => import('./store.ts'),
  auth: () => import('./auth.ts'),
  reactors: () => import('./reactors.ts'),
  warm: () => import('./warm.ts'),
};

const names = process.argv.slice(2);
for (const name of names) {
  if (benches[name] === undefined) {
    console.error(`There is no bench ${name}. There are: ${Object.keys(benches).join(', ')}.`);
    process.exit(2);
  }
}

for (const [name, load] of Object.entries(benches)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const { run } = await load();
  const result = await run();
  print(result);
  if (!result.rows.every(passes)) process.exitCode = 1;
}

function print({ title, rows }: BenchResult): void {
  const table = [['what', 'rate/s', 'peer', 'rate/s', 'ratio', 'bar', ''], ...rows.map(line)];
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((cells) => cells[column]?.length ?? 0)),
  );
  console.log(`\n${title}`);
  for (const cells of table) {
    console.log(
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

function line(row: BenchRow): string[] {
  const { what, rate, peer, peerRate, ratio, bar } = row;
  const verdict = passes(row) ? 'pass' : 'fail';
  return [
    what,
    Math.round(rate).toLocaleString('en'),
    peer,
    Math.round(peerRate).toLocaleString('en'),
    ratio.toFixed(2),
    bar === undefined ? '' : `≥ ${Number(bar.toFixed(2))}`,
    bar === undefined ? '' : verdict,
  ];
}
