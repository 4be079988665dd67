/**
 * Who may import whom in packages/server/src, from the top down. A room is a file or a folder; the longest name that
 * fits a file is its room. A file may always import from its own room.
 */
interface Room {
  readonly mayImport: readonly string[];
  /** Where HTTP is spoken. Elsewhere only files whose name says that they hold routes may know Fastify. */
  readonly knowsFastify?: true;
}

const leaves = [
  'errors.ts',
  'config.ts',
  'config-sources.ts',
  'setting-kinds.ts',
  'nearest.ts',
  'ids.ts',
  'repeated-look.ts',
  'version.ts',
];
const modules = [
  'identity',
  'oauth',
  'secrets',
  'configs',
  'reactors',
  'sharing',
  'executions',
  'events',
  'schedules',
  'search',
  'audit',
  'backup',
];
/** What every module stands on: the contract of the interface, the port of the engines, the store. */
const ground = ['contract', 'engines', 'store', ...leaves];

/** The composition root: the only place that knows them all, and which engine it is. */
const root = [
  'main.ts',
  'service.ts',
  'worker.ts',
  'parts.ts',
  'greeting.ts',
  'failure-sentence.ts',
  'stop-signals.ts',
  'data-folder.ts',
];
const knowingAll = [...root, 'doctor', 'http', ...modules, 'engines/docker', ...ground];

export const rooms: Readonly<Record<string, Room>> = {
  ...Object.fromEntries(root.map((file) => [file, { mayImport: knowingAll }])),
  http: { mayImport: [...modules, ...ground], knowsFastify: true },
  /** Looks at the machine from outside the service, whether or not it runs. */
  doctor: { mayImport: ['data-folder.ts', 'identity', 'engines/docker', ...ground] },

  search: { mayImport: ['executions', 'reactors', 'filters', ...ground] },
  schedules: { mayImport: ['executions', 'reactors', 'oauth', 'identity', 'cron', ...ground] },
  events: {
    mayImport: ['executions', 'reactors', 'oauth', 'identity', 'events/outbox.ts', ...ground],
  },
  executions: {
    mayImport: [
      'reactors',
      'configs',
      'oauth',
      'identity',
      'events/outbox.ts',
      'filters',
      ...ground,
    ],
  },
  sharing: { mayImport: ['reactors', 'secrets', 'oauth', 'identity', ...ground] },
  reactors: {
    mayImport: ['configs', 'oauth', 'identity', 'events/outbox.ts', 'cron', 'filters', ...ground],
  },
  backup: { mayImport: ['identity', ...ground] },
  configs: { mayImport: ['secrets', 'identity', ...ground] },
  secrets: { mayImport: ground },
  /** What happened, written in the unit in which it happens. */
  'events/outbox.ts': { mayImport: ground },
  audit: { mayImport: ['identity', ...ground] },
  /** The search terms of lists. */
  filters: { mayImport: ground },
  /** When a schedule comes. */
  cron: { mayImport: leaves },
  oauth: { mayImport: ['identity', ...ground] },
  identity: { mayImport: ground },

  contract: { mayImport: leaves, knowsFastify: true },
  engines: { mayImport: ['engines/docker', ...leaves] },
  'engines/docker': { mayImport: ['engines', ...leaves] },
  store: { mayImport: ['store/sqlite', 'store/postgres', ...leaves] },
  'store/sqlite': { mayImport: ['store', ...leaves] },
  'store/postgres': { mayImport: ['store', ...leaves] },

  ...Object.fromEntries(leaves.map((leaf) => [leaf, { mayImport: leaves }])),
};

/** Which packages of this repository a package may import. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  server: [],
  client: [],
  cli: ['client'],
  console: ['client'],
};
