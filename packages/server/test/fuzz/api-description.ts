import { Compile } from 'typebox/compile';

type Json = ReturnType<typeof JSON.parse>;
export type Schema = Readonly<Record<string, Json>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description?: string;
  readonly schema: Schema;
}

export interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** By content type. */
  readonly bodies: ReadonlyMap<string, { readonly schema: Schema; readonly example?: unknown }>;
  /** How a reply is described, by status; `default` for the others. */
  readonly replies: ReadonlyMap<string, Readonly<Record<string, DescribedReply>>>;
}

interface DescribedReply {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: unknown;
}

/** Every operation that the service says it has, with its schemas written out. */
export async function readDescription(url: string): Promise<readonly Operation[]> {
  const document: Json = JSON.parse(await (await fetch(`${url}/openapi.json`)).text());
  const written = writtenOut(document, document);
  return Object.entries<Json>(written.paths).flatMap(([path, verbs]) =>
    Object.entries<Json>(verbs).map(([verb, operation]) => ({
      name: `${verb.toUpperCase()} ${path}`,
      method: verb.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
      bodies: new Map(Object.entries<Json>(operation.requestBody?.content ?? {})),
      replies: new Map(
        Object.entries<Json>(operation.responses ?? {}).map(([status, reply]) => [
          status,
          reply.content ?? {},
        ]),
      ),
    })),
  );
}

function writtenOut(node: Json, document: Json): Json {
  if (Array.isArray(node)) return node.map((each) => writtenOut(each, document));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref } = node;
  if (typeof $ref === 'string')
    return writtenOut(document.components.schemas[$ref.split('/').at(-1) ?? ''], document);
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, writtenOut(value, document)]),
  );
}

const compiled = new WeakMap<Schema, ReturnType<typeof Compile>>();

/** What is wrong with a value, by its schema; undefined when nothing is. */
export function mismatch(schema: Schema, value: unknown): string | undefined {
  let check = compiled.get(schema);
  if (check === undefined) {
    check = Compile(schema);
    compiled.set(schema, check);
  }
  if (check.Check(value)) return undefined;
  const [first] = check.Errors(value);
  return `${first?.instancePath ?? ''} ${first?.message ?? 'does not fit'}`;
}
