/** What a stateful reactor remembers from one execution to the next. No row: nothing was ever kept. */
export interface ReactorStatesTable {
  reactor_id: string;
  /** From 1, raised by every change. */
  version: number;
  updated_at: number;
  /** JSON. */
  state: string;
}
