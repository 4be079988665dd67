/** An image's name taken apart: [registry/]repository[:tag][@digest]. */
export interface ImageReference {
  readonly registry: string;
  /** As the engine is asked for it: with the registry where one was given. */
  readonly name: string;
  /** A tag, or a digest that then wins over any tag. */
  readonly version: string;
  readonly isDigest: boolean;
}

const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const host = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\\[[0-9a-fA-F:]+\\])(?::[0-9]+)?';
const folder = new RegExp(`^${part}$`);
const grammar = new RegExp(
  `^(?:(?<host>${host})/)?(?<path>${part}(?:/${part})*)(?::(?<tag>[\\w][\\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$`,
);

/** Undefined when it is not a valid reference. */
export function readReference(text: string): ImageReference | undefined {
  const found = grammar.exec(text)?.groups;
  if (found === undefined) return undefined;
  // The first part is a registry only when it cannot be a folder of the default one, as Docker has it.
  const first = found['host'];
  const isRegistry = first !== undefined && (/[.:[]/.test(first) || first === 'localhost');
  if (first !== undefined && !isRegistry && !folder.test(first)) return undefined;
  const path = found['path'] ?? '';
  const name = first === undefined ? path : `${first}/${path}`;
  if (Buffer.byteLength(name) > 255) return undefined;
  const digest = found['digest'];
  return {
    registry: isRegistry ? first : 'docker.io',
    name,
    version: digest ?? found['tag'] ?? 'latest',
    isDigest: digest !== undefined,
  };
}

/** As a person writes it. */
export function describeReference({ name, version, isDigest }: ImageReference): string {
  return `${name}${isDigest ? '@' : ':'}${version}`;
}
