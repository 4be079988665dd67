import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** How the base of an image can be made where no registry has it. */
export type BaseKind = 'busybox' | 'python' | 'node';

const kinds: ReadonlySet<string> = new Set<BaseKind>(['busybox', 'python', 'node']);

/** An image of the folder `images/`: a Dockerfile, and image.json, which says what it is called and what it stands on. */
export interface Sample {
  /** The name of its folder. */
  readonly folder: string;
  /** What the engine calls it, without a tag. */
  readonly name: string;
  readonly base: BaseKind;
  /** The folder that its Dockerfile copies from. */
  readonly context: string;
  readonly dockerfile: string;
  /** The base that the Dockerfile names: of a public registry. */
  readonly publicBase: string;
}

const imagesFolder = resolve(import.meta.dirname, '../../images');

export function readSamples(): readonly Sample[] {
  return readdirSync(imagesFolder)
    .filter((folder) => existsSync(join(imagesFolder, folder, 'image.json')))
    .sort()
    .map(readSample);
}

export function readSample(folder: string): Sample {
  const place = join(imagesFolder, folder);
  const said: unknown = JSON.parse(readFileSync(join(place, 'image.json'), 'utf8'));
  const dockerfile = readFileSync(join(place, 'Dockerfile'), 'utf8');
  const publicBase = /^ARG BASE=(\S+)$/m.exec(dockerfile)?.[1];
  const { name, base, context } = readFields(said, folder);
  if (publicBase === undefined)
    throw new Error(`images/${folder}/Dockerfile has no line ARG BASE=<image>.`);
  return { folder, name, base, context: resolve(place, context), dockerfile, publicBase };
}

function readFields(
  said: unknown,
  folder: string,
): { name: string; base: BaseKind; context: string } {
  if (typeof said === 'object' && said !== null && 'name' in said && 'base' in said) {
    const { name, base } = said;
    const context = 'context' in said ? said.context : '.';
    if (typeof name === 'string' && isKind(base) && typeof context === 'string')
      return { name, base, context };
  }
  throw new Error(
    `images/${folder}/image.json needs "name", "base" (${[...kinds].join(', ')}) and perhaps "context".`,
  );
}

function isKind(value: unknown): value is BaseKind {
  return typeof value === 'string' && kinds.has(value);
}
