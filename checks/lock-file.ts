import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Refuses a package-lock.json that `npm ci` would refuse. npm leaves out the optional packages of other platforms when
 * the registry in use does not serve them, and then finds its own file incomplete. With --write, adds their entries:
 * name, version and platform, which is all that npm needs to pass over them, or to fetch them on such a machine.
 */

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly packages: Record<string, LockedPackage>;
}

const path = join(import.meta.dirname, '..', 'package-lock.json');

function missingOptionals({ packages }: LockFile): Record<string, LockedPackage> {
  const missing = Object.values(packages).flatMap(({ optionalDependencies = {}, dev }) =>
    Object.entries(optionalDependencies)
      .filter(
        ([name]) => !Object.keys(packages).some((key) => key.endsWith(`node_modules/${name}`)),
      )
      .map(([name, version]): [string, LockedPackage] => [
        `node_modules/${name}`,
        { version, ...(dev ? { dev } : {}), optional: true, ...platformOf(name) },
      ]),
  );
  return Object.fromEntries(missing);
}

/** Packages with one binary each carry their platform at the end of their name: …-linux-x64-musl. */
function platformOf(name: string): { os: string[]; cpu: string[]; libc?: string[] } | undefined {
  const parts = /(android|darwin|freebsd|linux|openharmony|win32)-([a-z0-9]+)(?:-(\w+))?$/.exec(
    name,
  );
  const [, os, cpu, kind] = parts ?? [];
  if (os === undefined || cpu === undefined) return undefined;
  const libc = os !== 'linux' ? undefined : kind?.startsWith('musl') ? 'musl' : 'glibc';
  return { os: [os], cpu: [cpu], ...(libc === undefined ? {} : { libc: [libc] }) };
}

const lockFile: LockFile = JSON.parse(readFileSync(path, 'utf8'));
const missing = missingOptionals(lockFile);
const names = Object.keys(missing).map((key) => key.replace('node_modules/', ''));

if (names.length > 0 && process.argv.includes('--write')) {
  const packages = Object.entries({ ...lockFile.packages, ...missing });
  packages.sort(([a], [b]) => (a < b ? -1 : 1));
  const completed = { ...lockFile, packages: Object.fromEntries(packages) };
  writeFileSync(path, `${JSON.stringify(completed, null, 2)}\n`);
  process.stdout.write(`added ${names.length} optional packages to package-lock.json\n`);
} else if (names.length > 0) {
  process.stderr.write(
    `package-lock.json lacks optional packages (${names.slice(0, 3).join(', ')}, …), so npm ci refuses it; ` +
      'run `node checks/lock-file.ts --write`.\n',
  );
  process.exitCode = 1;
}
