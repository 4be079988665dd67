import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { findCircles } from './circles.ts';
import { findImports } from './find-imports.ts';
import { packages, rooms } from './layers.ts';

/** Refuses circles and imports that go against checks/layers.ts in packages/<name>/src. */

interface Import {
  readonly from: string;
  /** The path of a file, or the name of a package. */
  readonly to: string;
  readonly isFile: boolean;
}

const serverSource = 'packages/server/src/';

/** The sentences of all that is wrong under `root`; each names the files and the rule. */
export function checkImports(root: string): readonly string[] {
  const files = globSync('packages/*/src/**/*.{ts,tsx,mts}', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
  const imports = files.flatMap((from) =>
    findImports(readFileSync(join(root, from), 'utf8')).map((name): Import => {
      const isFile = name.startsWith('.');
      return { from, to: isFile ? posix.join(dirname(from), name) : name, isFile };
    }),
  );
  return [
    ...files.flatMap(unknownPlace),
    ...imports.flatMap(wrongWay),
    ...findCircles(imports).map(
      (circle) => `${circle.join(' → ')}: imports must not run in a circle.`,
    ),
  ];
}

function unknownPlace(file: string): readonly string[] {
  const packageName = packageOf(file);
  if (!(packageName in packages)) {
    return [`${file}: the package "${packageName}" is not in checks/layers.ts; add it there.`];
  }
  if (!file.startsWith(serverSource) || roomOf(file) !== undefined) return [];
  const [place] = file.slice(serverSource.length).split('/');
  return [`${file}: "${place}" is not in checks/layers.ts; add it there with what it may import.`];
}

function wrongWay({ from, to, isFile }: Import): readonly string[] {
  const rules = isFile ? betweenFiles(from, to) : usingPackage(from, to);
  return rules.map((rule) => `${from} imports ${to}: ${rule}`);
}

function usingPackage(from: string, name: string): readonly string[] {
  if (/^(fastify|@fastify)([/-]|$)/.test(name)) {
    const knowsFastify =
      /(^|[/-])routes?(-[^/]*)?\.ts$/.test(from) ||
      rooms[roomOf(from) ?? '']?.knowsFastify === true;
    return knowsFastify
      ? []
      : ['only files with routes in their name, http and contract may know Fastify.'];
  }
  const ours = /^@reactord\/([^/]+)/.exec(name)?.[1];
  if (ours === undefined || packages[packageOf(from)]?.includes(ours)) return [];
  return [`"${packageOf(from)}" may not use the package "${ours}" (checks/layers.ts).`];
}

function betweenFiles(from: string, to: string): readonly string[] {
  if (!to.startsWith(`packages/${packageOf(from)}/`)) {
    return ['a file reaches other files only inside its own package.'];
  }
  return from.startsWith(serverSource) ? betweenRooms(from, to) : [];
}

function betweenRooms(from: string, to: string): readonly string[] {
  const [fromRoom, toRoom] = [roomOf(from), roomOf(to)];
  // An unknown room has been refused by its name.
  if (fromRoom === undefined || toRoom === undefined || fromRoom === toRoom) return [];
  if (rooms[fromRoom]?.mayImport.includes(toRoom)) return [];
  return [`"${fromRoom}" may not import from "${toRoom}" (checks/layers.ts).`];
}

function packageOf(file: string): string {
  return file.split('/')[1] ?? '';
}

function roomOf(file: string): string | undefined {
  if (!file.startsWith(serverSource)) return undefined;
  const path = file.slice(serverSource.length);
  return Object.keys(rooms)
    .filter((room) => path === room || path.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0];
}

if (import.meta.main) {
  const wrong = checkImports(join(import.meta.dirname, '..'));
  for (const sentence of wrong) process.stderr.write(`${sentence}\n`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
