import type { BenchRow } from './bench-result.ts';

/** What is measured, and what stands beside it. */
export interface Sides {
  readonly what: string;
  readonly peer: string;
  readonly bar: number | undefined;
  /** Each resolves with a rate. */
  readonly ours: () => Promise<number>;
  readonly theirs: () => Promise<number>;
}

/** Measures the two sides in turn, and each of them first as often as the other: noise on the machine meets both. */
export async function beside(sides: Sides, rounds: number): Promise<BenchRow> {
  const { what, peer, bar } = sides;
  const rates: number[] = [];
  const peerRates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) rates.push(await sides.ours());
    peerRates.push(await sides.theirs());
    if (round % 2 === 1) rates.push(await sides.ours());
  }
  return {
    what,
    rate: median(rates),
    peer,
    peerRate: median(peerRates),
    ratio: median(rates.map((rate, round) => rate / (peerRates[round] ?? Number.NaN))),
    bar,
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[middle - ((sorted.length + 1) % 2)], sorted[middle]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
