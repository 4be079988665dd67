import { fail } from '../errors.ts';

/** How the query of a message asks to have its reply held until the execution has an answer. */

type Query = Readonly<Record<string, unknown>>;

/** As clients of the ancestor write it, whatever the second prefix is. */
const synchronousNames = ['_svc_synchronous', '_abaco_synchronous'];

/** The parameters of the query that ask to wait, which are no variables of the execution. */
export const waitParameters: ReadonlySet<string> = new Set(['wait', ...synchronousNames]);

/** How many seconds the sender wants to wait for the answer; undefined: not at all. */
export function secondsToWait(query: Query, limit: number): number | undefined {
  const { wait } = query;
  if (wait !== undefined) {
    const seconds = typeof wait === 'string' && /^\d{1,6}$/.test(wait) ? Number(wait) : Number.NaN;
    if (!(seconds <= limit))
      throw invalid('wait', `takes a whole number of seconds up to ${limit}`);
    return seconds === 0 ? undefined : seconds;
  }
  for (const name of synchronousNames) {
    const given = query[name];
    if (given === undefined) continue;
    const text = String(given).toLowerCase();
    if (text === 'true' || text === '1') return limit;
    if (text !== 'false' && text !== '0') throw invalid(name, 'takes true or false');
  }
  return undefined;
}

const invalid = (field: string, problem: string) => fail('invalid_field', { field, problem });
