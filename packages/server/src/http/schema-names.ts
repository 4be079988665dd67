/**
 * Gathers every schema that has a title under components/schemas and refers to it from where it stood, so that
 * readers and generated clients meet `Reactor` by name and not the same forty lines in each operation.
 */
export function nameSchemas<Document extends object>(document: Document): Document {
  const named = new Map<string, unknown>();
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== 'object' || node === null) return node;
    const walked = Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, walk(value)]),
    );
    const title = walked['title'];
    if (typeof title !== 'string' || !isSchema(walked)) return walked;
    named.set(title, walked);
    return { $ref: `#/components/schemas/${title}` };
  };
  const walked = Object.entries(document).map(([key, value]) =>
    key === 'info' ? [key, value] : [key, walk(value)],
  );
  const copy = { ...document, ...Object.fromEntries(walked) };
  const components =
    'components' in copy && typeof copy.components === 'object' ? copy.components : {};
  const schemas = Object.fromEntries([...named].sort(([a], [b]) => a.localeCompare(b)));
  return { ...copy, components: { ...components, schemas } };
}

function isSchema(node: object): boolean {
  return 'type' in node || 'anyOf' in node || 'allOf' in node || 'oneOf' in node;
}
