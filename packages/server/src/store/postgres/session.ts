import pg from 'pg';

const { builtins } = pg.types;

/** The same JavaScript values as from SQLite: numbers for 64-bit integers and sums of them, Uint8Array for bytes. */
const types = new pg.TypeOverrides();
types.setTypeParser(builtins.INT8, wholeNumber);
types.setTypeParser(builtins.NUMERIC, Number);
const bytes = pg.types.getTypeParser(builtins.BYTEA);
types.setTypeParser(builtins.BYTEA, (text) => new Uint8Array(bytes(text)));

/** What every connection of the store has in common. */
export function session(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    types,
    application_name: 'reactord',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  };
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) {
    throw new RangeError(`The integer ${text} is too large to be read exactly.`);
  }
  return number;
}
