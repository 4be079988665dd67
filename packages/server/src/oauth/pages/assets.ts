import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface PageAsset {
  readonly path: `/${string}`;
  readonly contentType: string;
  readonly etag: string;
  readonly cacheControl: string;
  readonly bytes: Buffer;
}

function asset(name: string, extension: string, contentType: string): PageAsset {
  const bytes = readFileSync(new URL(`./${name}.${extension}`, import.meta.url));
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  return {
    // The hash is in the path, so a changed file has another address and a browser may keep this one for ever.
    path: `/assets/pages/${name}.${hash}.${extension}`,
    contentType,
    etag: `"${hash}"`,
    cacheControl: 'public, max-age=31536000, immutable',
    bytes,
  };
}

const stylesheet = asset('style', 'css', 'text/css; charset=utf-8');
export const logo = asset('logo', 'svg', 'image/svg+xml');

export const stylesheetPath = stylesheet.path;
export const logoPath = logo.path;

/** Everything the pages load, by path. */
export const pageAssets: ReadonlyMap<string, PageAsset> = new Map(
  [stylesheet, logo].map((each) => [each.path, each]),
);
