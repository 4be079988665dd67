import type { BatchUnit, Outcome } from '../group-commit.ts';
import type { SqlValue } from '../sql-value.ts';
import type { Result } from '../statement.ts';
import { errorFrom, type Failure } from './failure.ts';

/**
 * A batch on its way to the writer thread. Flat lists of plain values: copying a message between threads costs per
 * object, and a batch of small units would otherwise be mostly objects.
 */
export interface BatchRequest {
  /**
   * For each unit the number of its statements, then for each statement three numbers:
   * template id (0: the text is the next of `texts`), rows expected (-1: any), number of values.
   */
  readonly layout: readonly number[];
  readonly units: number;
  /**
   * In the order of the statements. Where one stands in `bytes`, there is null here. As JSON where all are such that it
   * gives them back as they were: one text is copied in no time, and read faster than as many values.
   */
  readonly values: string | SqlValue[];
  /** Small binary values, one behind the other: as objects of their own they would cost more than they hold. */
  readonly bytes: Uint8Array;
  /** For each value in `bytes` two numbers: its place among the values, and its length. */
  readonly packed: readonly number[];
  /** The texts of the statements without an id, in order. */
  readonly texts: readonly string[];
  /** The texts of ids that the thread has not met yet. */
  readonly templates: readonly (readonly [id: number, sql: string])[];
}

export interface BatchReply {
  /** Rows affected, for each statement of the batch in order. */
  readonly affected: readonly number[];
  /** Only for statements that returned some: the place of the statement in the batch, and its rows. */
  readonly rows: readonly (readonly [statement: number, rows: readonly unknown[]])[];
  /** Only for units that failed: the place of the unit in the batch. */
  readonly failures: readonly (readonly [unit: number, failure: Failure])[];
  /** The batch as a whole failed, and nothing of it was applied. */
  readonly failure: Failure | undefined;
  /** How long COMMIT itself took: mostly the disk. */
  readonly commitMilliseconds: number;
}

/** What the main thread sends: a batch, or the word to finish. */
export type WriterRequest = BatchRequest | 'close';

/** A statement as the thread meets it. */
export interface ThreadStatement {
  readonly id: number;
  readonly sql: string | undefined;
  readonly expected: number;
  readonly values: readonly SqlValue[];
}

/** `known` holds the ids whose text the thread has already; the new ones are added. */
export function packBatch(batch: readonly BatchUnit[], known: Set<number>): BatchRequest {
  const layout: number[] = [];
  const values: SqlValue[] = [];
  const small = new SmallBytes();
  let isPlain = true;
  const texts: string[] = [];
  const templates: [number, string][] = [];
  for (const unit of batch) {
    layout.push(unit.length);
    for (const { template, expected, values: given } of unit) {
      const { id = 0, sql } = template;
      layout.push(id, expected ?? -1, given.length);
      for (const value of given) {
        if (small.take(value, values.length)) {
          values.push(null);
          continue;
        }
        isPlain &&= typeof value !== 'bigint' && !(value instanceof Uint8Array);
        values.push(whole(value));
      }
      if (id === 0) {
        texts.push(sql);
      } else if (!known.has(id)) {
        known.add(id);
        templates.push([id, sql]);
      }
    }
  }
  const packed = isPlain ? JSON.stringify(values) : values;
  return { units: batch.length, layout, values: packed, ...small.packed(), texts, templates };
}

export function unpackBatch(request: BatchRequest): ThreadStatement[][] {
  const { layout, texts } = request;
  const values = unpackValues(request);
  const units: ThreadStatement[][] = [];
  let place = 0;
  let value = 0;
  let text = 0;
  const next = () => layout[place++] ?? 0;
  while (place < layout.length) {
    const unit: ThreadStatement[] = [];
    for (let left = next(); left > 0; left -= 1) {
      const id = next();
      const expected = next();
      const count = next();
      const sql = id === 0 ? texts[text++] : undefined;
      unit.push({ id, sql, expected, values: values.slice(value, value + count) });
      value += count;
    }
    units.push(unit);
  }
  return units;
}

/** Deals the reply out to the units of the batch. */
export function outcomesOf(batch: readonly BatchUnit[], reply: BatchReply): Outcome[] {
  const rows = new Map(reply.rows);
  const failures = new Map(reply.failures);
  const outcomes: Outcome[] = [];
  let statement = 0;
  for (const unit of batch) {
    const results: Result[] = [];
    for (let left = unit.length; left > 0; left -= 1) {
      results.push({ rows: rows.get(statement) ?? [], affected: reply.affected[statement] ?? 0 });
      statement += 1;
    }
    const failure = failures.get(outcomes.length);
    outcomes.push(failure === undefined ? results : errorFrom(failure));
  }
  return outcomes;
}

/** What is larger is copied once less when it travels alone. */
const mostPacked = 16 * 1024;

class SmallBytes {
  readonly #places: number[] = [];
  readonly #parts: Uint8Array[] = [];

  /** Whether the value was taken, to travel in `bytes`. */
  take(value: SqlValue, place: number): boolean {
    if (!(value instanceof Uint8Array) || value.byteLength > mostPacked) return false;
    this.#places.push(place, value.byteLength);
    this.#parts.push(value);
    return true;
  }

  packed(): Pick<BatchRequest, 'bytes' | 'packed'> {
    const length = this.#parts.reduce((sum, part) => sum + part.byteLength, 0);
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    return { bytes, packed: this.#places };
  }
}

/** The values in their order, the small binary ones put back where they belong. */
function unpackValues({ values: given, bytes, packed }: BatchRequest): SqlValue[] {
  const values: SqlValue[] = typeof given === 'string' ? JSON.parse(given) : given;
  let at = 0;
  for (let index = 0; index < packed.length; index += 2) {
    const length = packed[index + 1] ?? 0;
    values[packed[index] ?? 0] = bytes.subarray(at, at + length);
    at += length;
  }
  return values;
}

/** A view of a part of a buffer would travel with the whole buffer, so it is cut out first. */
function whole(value: SqlValue): SqlValue {
  if (!(value instanceof Uint8Array)) return value;
  return value.byteLength === value.buffer.byteLength ? value : new Uint8Array(value);
}
