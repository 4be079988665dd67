/** An image's name taken apart: [registry/]repository[:tag][@digest]. */
export interface ImageReference {
  readonly registry: string;
  /** As it was written, and as the engine is asked for it: with the registry where one was given. */
  readonly name: string;
  /** The name in full: `docker.io/library/busybox` where somebody wrote `busybox`. */
  readonly repository: string;
  /** A tag, or a digest that then wins over any tag. */
  readonly version: string;
  readonly isDigest: boolean;
}

const defaultRegistry = 'docker.io';
const longest = 512;

const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const host = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?';
const folder = new RegExp(`^${part}$`);
const grammar = new RegExp(
  `^(?:(?<host>${host})/)?(?<path>${part}(?:/${part})*)(?::(?<tag>[\\w][\\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$`,
);

/** Undefined when it is not a valid reference. */
export function readReference(text: string): ImageReference | undefined {
  // Before the grammar, which takes its time with long texts.
  if (text.length > longest) return undefined;
  const found = grammar.exec(text)?.groups;
  if (found === undefined) return undefined;
  const { host: first, path = '', tag = 'latest', digest } = found;
  const name = first === undefined ? path : `${first}/${path}`;
  if (name.length > 255) return undefined;
  if (first !== undefined && !isRegistry(first) && !folder.test(first)) return undefined;
  const [given, rest] = isRegistry(first) ? [first, path] : [defaultRegistry, name];
  const registry = given === 'index.docker.io' ? defaultRegistry : given;
  const isOfficial = registry === defaultRegistry && !rest.includes('/');
  return {
    registry,
    name,
    repository: `${registry}/${isOfficial ? 'library/' : ''}${rest}`,
    version: digest ?? tag,
    isDigest: digest !== undefined,
  };
}

/** As a person writes it. */
export function describeReference({ name, version, isDigest }: ImageReference): string {
  return `${name}${isDigest ? '@' : ':'}${version}`;
}

/** Whether both name the same content as far as names can tell: `busybox` and `docker.io/library/busybox:latest`. */
export function sameImage(one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [readReference(one), readReference(other)];
  return (
    left !== undefined &&
    right !== undefined &&
    left.repository === right.repository &&
    left.version === right.version
  );
}

/** The first part is a registry only when it cannot be a folder of the default one, as Docker has it. */
function isRegistry(first: string | undefined): first is string {
  return first !== undefined && (/[.:[]/.test(first) || first === 'localhost');
}
