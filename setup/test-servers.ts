import { describeAddress } from '../packages/server/src/engines/docker/address.ts';
import { installDebianPackages } from './debian.ts';
import { provideEngine } from './engine.ts';
import { startPostgres } from './postgres.ts';

export interface RunningServer {
  /** What the tests find in this server's variable. */
  readonly address: string;
  stop(): Promise<void>;
}

interface TestServer {
  readonly name: string;
  /** The variable that tells the tests where it is. Where somebody has set it already, that server is used. */
  readonly variable: string;
  readonly debianPackages: readonly string[];
  start(): Promise<RunningServer>;
}

/** Something that the tests start themselves, each its own. */
function program(name: string, variable: string, debianPackage: string, path: string): TestServer {
  return {
    name,
    variable,
    debianPackages: [debianPackage],
    start: async () => ({ address: path, stop: async () => {} }),
  };
}

/** The real servers and programs that the tests talk to. A new one is a new entry here. */
export const testServers: readonly TestServer[] = [
  {
    name: 'a container engine',
    variable: 'REACTORD_TEST_ENGINE',
    debianPackages: [],
    start: async () => ({
      address: describeAddress(await provideEngine(undefined)),
      // It may be the machine's own, and others may use it meanwhile.
      stop: async () => {},
    }),
  },
  {
    name: 'PostgreSQL',
    variable: 'REACTORD_TEST_POSTGRES',
    debianPackages: ['postgresql'],
    start: async () => {
      const { url, stop } = await startPostgres();
      return { address: url, stop };
    },
  },
  program('a registry', 'REACTORD_TEST_REGISTRY', 'docker-registry', '/usr/bin/docker-registry'),
  program('busybox', 'REACTORD_TEST_BUSYBOX', 'busybox-static', '/bin/busybox'),
];

interface TestPackages {
  readonly name: string;
  readonly debianPackages: readonly string[];
}

/** Programs and libraries of the machine that tests run themselves. A new one is a new entry here. */
export const testPackages: readonly TestPackages[] = [
  { name: 'Chromium', debianPackages: ['chromium'] },
  { name: 'what the guides use', debianPackages: ['curl', 'jq'] },
  {
    name: 'OAuth clients in Python',
    debianPackages: ['python3', 'python3-requests-oauthlib', 'python3-authlib'],
  },
  { name: 'pytest', debianPackages: ['python3', 'python3-pytest', 'python3-cloudpickle'] },
];

export function installTestPackages({ debianPackages }: TestPackages): Promise<void> {
  return installDebianPackages(debianPackages, 'for the tests');
}

/** Installs and starts one server, or takes the one that the environment names. */
export async function startTestServer(server: TestServer): Promise<RunningServer> {
  const given = process.env[server.variable];
  if (given) return { address: given, stop: async () => {} };
  if (server.debianPackages.length > 0)
    await installDebianPackages(server.debianPackages, 'for the tests');
  return server.start();
}
