import { TokenRefusal } from './token-errors.ts';

/** The parameters of a request to an OAuth endpoint: each at most once, none empty. */
export type TokenForm = ReadonlyMap<string, string>;

const mostParameters = 32;
const longestValue = 4096;

/** RFC 6749 appendix A: which characters a parameter may have. */
const visible = /^[\x20-\x7e]*$/;
const characters: ReadonlyMap<string, RegExp> = new Map([
  ['client_id', visible],
  ['client_secret', visible],
  ['code', visible],
  ['refresh_token', visible],
  ['device_code', visible],
  ['token', visible],
  ['code_verifier', visible],
  ['scope', /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/],
]);

const invalid = (description: string): TokenRefusal =>
  new TokenRefusal('invalid_request', description);

/** Reads what the form parser found, strictly: what two readers could understand differently is refused. */
export function readTokenForm(body: unknown): TokenForm {
  const form = new Map<string, string>();
  const given = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  if (given.length > mostParameters)
    throw invalid(`There are more than ${mostParameters} parameters.`);
  for (const [name, value] of given) {
    if (typeof value !== 'string') throw invalid('A parameter is there more than once.');
    // RFC 6749 3.2: a parameter without a value is as good as none.
    if (value !== '') form.set(name, checked(name, value));
  }
  return form;
}

function checked(name: string, value: string): string {
  if (value.length > longestValue)
    throw invalid(`A parameter is longer than ${longestValue} characters.`);
  if (/[\0\r\n]/.test(value) || characters.get(name)?.test(value) === false)
    throw invalid('A parameter has characters that it cannot have.');
  return value;
}

/** The parameter, or the refusal that names it. The name is ours, not the caller's. */
export function needed(form: TokenForm, name: string): string {
  const value = form.get(name);
  if (value === undefined) throw invalid(`The parameter ${name} is missing.`);
  return value;
}
