import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { HandedFile } from '../../packages/server/src/engines/engine.ts';
import type { Sample } from './sample.ts';

/** What the engine builds from: the files of the context, and the Dockerfile under a name that none of them has. */
export interface BuildContext {
  readonly dockerfileName: string;
  readonly files: readonly HandedFile[];
  /** Changes with any file, its mode or its name. */
  readonly digest: string;
}

const dockerfileName = '.reactord.Dockerfile';
/** What programs leave behind; it would make every image look changed. */
const leftovers =
  /(^|\/)(__pycache__|\.pytest_cache|\.venv|node_modules|dist|build|[^/]+\.egg-info|[^/]+\.pyc|image\.json|Dockerfile)$/;

export function readContext(sample: Sample): BuildContext {
  const files = [
    { path: dockerfileName, mode: 0o644, content: Buffer.from(sample.dockerfile) },
    ...filesUnder(sample.context, sample.context),
  ];
  const hash = createHash('sha256');
  for (const { path, mode, content } of files)
    hash.update(`${path}\0${mode}\0${content.length}\0`).update(content);
  return { dockerfileName, files, digest: hash.digest('hex') };
}

function filesUnder(root: string, folder: string): readonly HandedFile[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !leftovers.test(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesUnder(root, path);
      // Anyone in the container may read it, whatever the umask of whoever cloned the repository.
      const mode = statSync(path).mode & 0o111 ? 0o755 : 0o644;
      return entry.isFile()
        ? [{ path: relative(root, path), mode, content: readFileSync(path) }]
        : [];
    });
}
