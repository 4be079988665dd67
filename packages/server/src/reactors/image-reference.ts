/** An image's name taken apart: [registry/]repository[:tag][@digest]. */
export interface ImageReference {
  readonly registry: string;
  /** The repository with its registry, in full: `docker.io/library/busybox` where somebody wrote `busybox`. */
  readonly repository: string;
  /** A tag, or a digest, which wins over any tag. */
  readonly version: string;
}

const defaultRegistry = 'docker.io';
const longest = 512;

const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const host = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?';
const grammar = new RegExp(
  `^(?:(?<host>${host})/)?(?<path>${part}(?:/${part})*)(?::(?<tag>[\\w][\\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$`,
);

/** Undefined when it is not a reference. */
export function readReference(text: string): ImageReference | undefined {
  // Before the grammar, which takes its time with long texts.
  if (text.length > longest) return undefined;
  const found = grammar.exec(text)?.groups;
  if (found === undefined) return undefined;
  const { host: first, path = '', tag = 'latest', digest } = found;
  const named = first === undefined ? path : `${first}/${path}`;
  if (named.length > 255) return undefined;
  const [registry, rest] = isRegistry(first) ? [first, path] : [defaultRegistry, named];
  const isDefault = registry === defaultRegistry || registry === 'index.docker.io';
  const repository = isDefault
    ? `${defaultRegistry}/${rest.includes('/') ? rest : `library/${rest}`}`
    : `${registry}/${rest}`;
  return {
    registry: isDefault ? defaultRegistry : registry,
    repository,
    version: digest ?? tag,
  };
}

/** Whether both texts name the same content as far as names can tell: `busybox` and `docker.io/library/busybox:latest`. */
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

/** The same repository at exactly this content; undefined for what is not a reference. */
export function atDigest(text: string, digest: string): string | undefined {
  const reference = readReference(text);
  return reference && `${reference.repository}@${digest}`;
}

/** The first part is a registry only when it cannot be a folder of the default one. */
function isRegistry(first: string | undefined): first is string {
  return first !== undefined && (/[.:[A-Z]/.test(first) || first === 'localhost');
}
