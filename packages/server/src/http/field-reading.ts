import type { TSchema } from 'typebox';

type KnownFields = Readonly<Record<string, object>>;

/**
 * Brings given fields into the shape of the schema before they are checked:
 * both spellings of a name (snake_case and camelCase), booleans written as text, and, where everything is
 * text (forms, queries, paths), numbers and one-element lists. What does not fit is left for the check to refuse.
 */
export function readFields(properties: KnownFields, given: unknown, fromText: boolean): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  // Forms are read into objects without a prototype: there, everything is text.
  const allText = fromText || Object.getPrototypeOf(given) === null;
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const known = spelledAs(name, properties);
    const target = known !== undefined && !(known in read) ? known : name;
    const property = properties[target];
    const taken = property === undefined ? value : readValue(property, value, allText);
    if (target === '__proto__') setOwn(read, target, taken);
    else read[target] = taken;
  }
  return read;
}

/** An ordinary assignment to this one name would change what the object is. */
function setOwn(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function spelledAs(name: string, properties: KnownFields): string | undefined {
  if (Object.hasOwn(properties, name)) return name;
  const folded = fold(name);
  return Object.keys(properties).find((known) => fold(known) === folded);
}

const fold = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function readValue(property: object, value: unknown, allText: boolean): unknown {
  const type = 'type' in property ? property.type : undefined;
  if (type === 'boolean' && typeof value === 'string')
    return booleans[value.toLowerCase()] ?? value;
  if (!allText) return value;
  if ((type === 'integer' || type === 'number') && typeof value === 'string') {
    return /^-?\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value;
  }
  return type === 'array' && typeof value === 'string' ? [value] : value;
}

const booleans: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  false: false,
  '0': false,
};

/** The fields that the schema names. */
export function fieldsOf(schema: TSchema): KnownFields {
  return 'properties' in schema &&
    typeof schema.properties === 'object' &&
    schema.properties !== null
    ? { ...schema.properties }
    : {};
}
