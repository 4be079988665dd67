/** What is known of the results of one execution that has given any. In the database of the logs. */
export interface ResultBoxesTable {
  execution_id: string;
  reactor_id: string;
  /** The execution's place in the reactor's order of receipt. */
  seq: number;
  /** How many it has given so far. */
  given: number;
  /** How much of the limit they take, also those that were handed out. */
  bytes: number;
  /** The run whose datagrams were read last, and how far. */
  spool_worker: string;
  spool_place: number;
  last_given_at: number;
}

/** A result that nobody has taken yet. */
export interface ResultsTable {
  execution_id: string;
  /** From 1, in the order in which they were given. */
  place: number;
  body: Uint8Array;
}
