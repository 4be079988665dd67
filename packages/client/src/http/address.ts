type QueryValue = string | number | boolean | readonly (string | number)[] | null | undefined;
export type Query = Readonly<Record<string, QueryValue>>;

/** The address without a slash at its end. */
export function baseOf(url: string | URL): string {
  const text = String(url);
  if (!/^https?:\/\//i.test(text))
    throw new TypeError(`baseUrl: takes an http or https address, not ${JSON.stringify(text)}`);
  return text.replace(/[?#].*$/, '').replace(/\/+$/, '');
}

/** Puts values into the blanks of a path, `/actors/v2/{reactorId}`. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_blank, name: string) => {
    const value = values[name];
    // An empty one would name another resource: the list instead of the entry.
    if (typeof value !== 'string' || value === '' || value === '.' || value === '..')
      throw new TypeError(`${name}: takes a name or an id, not ${JSON.stringify(value)}`);
    return encodeURIComponent(value);
  });
}

/** With its `?`; empty when nothing is asked. Lists become repeated parameters; what is undefined or null is left out. */
export function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value])
      parameters.append(name, String(each));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** The query of the address that a Link header calls `next`. Only that: the address itself may be one behind a proxy. */
export function nextQuery(link: string | null): Query | undefined {
  const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? '')?.[1];
  const at = next?.indexOf('?') ?? -1;
  if (next === undefined || at === -1) return undefined;
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(next.slice(at)))
    query[name] = [...(query[name] ?? []), value];
  return query;
}
