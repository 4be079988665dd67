/** A form's fields; a field that was sent more than once is a list of its values, in order. */
export type Form = Readonly<Record<string, string | readonly string[]>>;

/** Reads `a=1&b=2` strictly: undefined when a percent escape is broken or does not decode to UTF-8. */
export function parseForm(text: string): Form | undefined {
  // A null prototype: a field called __proto__ is a field like any other.
  const form: Record<string, string | string[]> = Object.create(null);
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at === -1 ? pair : pair.slice(0, at));
    const value = decode(at === -1 ? '' : pair.slice(at + 1));
    if (name === undefined || value === undefined) return undefined;
    const before = form[name];
    if (before === undefined) form[name] = value;
    else if (typeof before === 'string') form[name] = [before, value];
    else before.push(value);
  }
  return form;
}

function decode(encoded: string): string | undefined {
  if (!encoded.includes('%') && !encoded.includes('+')) return encoded;
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
