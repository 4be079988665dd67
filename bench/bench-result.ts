/** One measurement beside its peer, taken in the same run on the same machine. */
export interface BenchRow {
  readonly what: string;
  /** Per second. */
  readonly rate: number;
  readonly peer: string;
  readonly peerRate: number;
  /** Of rate to peerRate: the median over the rounds, since the two sides of a round meet the same noise. */
  readonly ratio: number;
  /** The least ratio; undefined where the figure is only shown. */
  readonly bar: number | undefined;
}

export interface BenchResult {
  readonly title: string;
  readonly rows: readonly BenchRow[];
}

export function passes({ ratio, bar }: BenchRow): boolean {
  return bar === undefined || ratio >= bar;
}
