/** Examples and words that the API description has for every operation, made from what the schemas say. */

/** What a schema says of itself by example; undefined where it says nothing. */
export function exampleOf(schema: unknown): unknown {
  const { type, examples, anyOf, items, properties } = { ...asRecord(schema) };
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if (type === 'null') return null;
  if (Array.isArray(anyOf)) return anyOf.map(exampleOf).find((found) => found !== undefined);
  if (type === 'array') {
    const item = exampleOf(items);
    return item === undefined ? undefined : [item];
  }
  return type === 'object' ? objectOf(asRecord(properties)) : undefined;
}

/** Only where there is an example of each member. */
function objectOf(properties: Readonly<Record<string, unknown>>): unknown {
  const members = Object.entries(properties).map(
    ([name, each]) => [name, exampleOf(each)] as const,
  );
  const isWhole = members.length > 0 && members.every(([, value]) => value !== undefined);
  return isWhole ? Object.fromEntries(members) : undefined;
}

/** What names in paths stand for, wherever they stand. */
const inPaths: Readonly<Record<string, string>> = {
  reactorId: 'The reactor, by its id or an alias.',
  executionId: 'The execution, by its id.',
  workerId: 'The worker, by its id.',
  nonceId: 'The nonce itself.',
  deliveryId: 'The delivery, by its id.',
  alias: 'The alias.',
  name: 'The name of the config.',
  clientName: 'The name of the client application.',
  username: 'The username.',
};

export function describePath(params: unknown): Readonly<Record<string, unknown>> {
  const properties = Object.entries(asRecord(asRecord(params)['properties'])).map(
    ([name, each]) => [name, { description: inPaths[name], ...asRecord(each) }] as const,
  );
  return { ...asRecord(params), properties: Object.fromEntries(properties) };
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
