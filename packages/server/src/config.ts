import { isIP } from 'node:net';
import {
  choice,
  decimal,
  duration,
  flag,
  list,
  optional,
  size,
  text,
  wholeNumber,
} from './setting-kinds.ts';

/**
 * Every setting of the service: default, what it allows, and its doc line, in one place.
 * `port` below is REACTORD_PORT in the environment, --port as a flag and `port = …` in the config file.
 * docs/reference/settings.md is generated from this table.
 */
export const settings = {
  config: optional({
    doc: 'The config file: one `name = value` a line, `#` begins a comment. Cannot itself stand in the file.',
    allows: 'the path of a readable file',
    defaultText: 'reactord.conf in the working folder, where there is one',
    read: nonEmpty,
  }),
  host: text({
    doc: 'The address to listen on. 0.0.0.0 listens on every address of the machine.',
    default: '127.0.0.1',
    pattern: /^[\w.:-]+$/,
    allows: 'an IP address or a host name, without a port',
  }),
  port: wholeNumber({
    doc: 'The port to listen on. 0 takes a free one and prints it.',
    default: 8080,
    least: 0,
    most: 65_535,
  }),
  data: text({
    doc: 'The folder for everything the service keeps on this machine. Made with mode 0700 at the first start.',
    default: './data',
    pattern: /^[^\0]+$/,
    allows: 'the path of a folder',
  }),
  database: optional({
    doc: 'Where the store is: a SQLite file, or a PostgreSQL database.',
    allows: 'postgres://user:password@host:port/name, or the path of a SQLite file',
    defaultText: 'reactord.db in the data folder',
    // The address of a PostgreSQL database usually carries a password.
    secret: true,
    read: (given) => (isDatabaseAddress(given) ? given : undefined),
  }),
  base_url: optional({
    doc: 'The address under which people and clients reach the service, used in links and as the OAuth issuer. Set it behind a proxy.',
    allows: 'an http or https address without a path, such as https://reactors.example.org',
    defaultText: 'http://HOST:PORT',
    read: readOrigin,
  }),
  admin_username: text({
    doc: 'The name of the first admin, made at the first start.',
    default: 'admin',
    pattern: /^(?!(?:me|(?:abaco_)?world)$)[a-z0-9._-]{1,64}$/i,
    allows: '1 to 64 letters, digits, dots, underscores or hyphens, and not "me" or "WORLD"',
  }),
  admin_password: optional({
    doc: 'The password of the first admin. Read at the first start only; without it one is generated and printed once.',
    allows: 'at least 8 characters, and at most 1024 bytes of UTF-8',
    defaultText: 'generated',
    secret: true,
    read: (given) =>
      [...given].length >= 8 && Buffer.byteLength(given) <= 1024 ? given : undefined,
  }),
  engine: optional({
    doc: 'The container engine.',
    allows: 'unix:///path/of/socket or tcp://host:port',
    defaultText: "DOCKER_HOST, or else Docker's or Podman's socket",
    read: (given) => (/^(unix:\/\/\/.+|tcp:\/\/[\w.-]+:\d+)$/.test(given) ? given : undefined),
  }),
  cors_origins: list({
    doc: 'The web origins whose pages may call the API from a browser. Cookies are never part of it.',
    default: ['*'],
    allows: '* or a comma-separated list of origins such as https://app.example.org',
    entry: (entry) => entry === '*' || readOrigin(entry) === entry,
  }),
  trust_proxy: list({
    doc: 'The proxies in front of the service whose X-Forwarded-* headers are believed.',
    default: [],
    allows: 'a comma-separated list of IP addresses or networks such as 10.0.0.0/8',
    entry: (entry) => /^[0-9a-fA-F.:]+(\/\d{1,3})?$/.test(entry),
  }),
  tenant: text({
    doc: 'The name of this deployment. It appears in events and in the name of the header for signed assertions.',
    default: 'LOCAL',
    pattern: /^[A-Za-z0-9-]{1,32}$/,
    allows: '1 to 32 letters, digits or hyphens',
  }),
  allow_http: flag({
    doc: 'Allow a base URL and callback URLs with http on hosts other than this machine. Passwords and tokens then travel in clear.',
    default: false,
  }),
  code_token_lifetime: duration({
    doc: 'How long an access token of the authorization code flow (and of the device flow) is valid.',
    default: '4h',
    least: '60s',
    most: '4h',
  }),
  implicit_token_lifetime: duration({
    doc: 'How long an access token of the implicit flow is valid.',
    default: '1h',
    least: '60s',
    most: '4h',
  }),
  password_token_lifetime: duration({
    doc: 'How long an access token of the password flow is valid.',
    default: '4h',
    least: '60s',
    most: '4h',
  }),
  client_token_lifetime: duration({
    doc: 'How long an access token of the client credentials flow is valid.',
    default: '4h',
    least: '60s',
    most: '4h',
  }),
  implicit_flow: flag({ doc: 'Whether the implicit flow is offered.', default: true }),
  password_flow: flag({ doc: 'Whether the password flow is offered.', default: true }),
  require_pkce: flag({
    doc: 'Whether the authorization code flow needs PKCE from every client.',
    default: false,
  }),
  refresh_lifetime: duration({
    doc: 'How long a refresh token is valid after it was first issued. 0: for ever.',
    default: '0',
    least: '0',
    most: '3650d',
  }),
  refresh_idle_limit: duration({
    doc: 'How long a refresh token stays valid without being used. 0: for ever.',
    default: '0',
    least: '0',
    most: '3650d',
  }),
  refresh_rotation: flag({
    doc: 'Whether each use of a refresh token replaces it; a replaced one that is used again ends all that came of it.',
    default: false,
  }),
  refresh_grace: duration({
    doc: 'With rotation: how long a replaced refresh token still gives the same successor, for replies that got lost.',
    default: '30s',
    least: '0',
    most: '10m',
  }),
  session_idle_limit: duration({
    doc: 'After how long without a visit a person has to log in again.',
    default: '12h',
    least: '5m',
    most: '90d',
  }),
  session_lifetime: duration({
    doc: 'After how long a person has to log in again in any case.',
    default: '14d',
    least: '5m',
    most: '365d',
  }),
  tier_gold: wholeNumber({
    doc: 'Requests a minute for a client of tier Gold and one user together.',
    default: 1200,
    least: 1,
    most: 1_000_000,
  }),
  tier_silver: wholeNumber({
    doc: 'Requests a minute for a client of tier Silver and one user together.',
    default: 300,
    least: 1,
    most: 1_000_000,
  }),
  tier_bronze: wholeNumber({
    doc: 'Requests a minute for a client of tier Bronze and one user together.',
    default: 60,
    least: 1,
    most: 1_000_000,
  }),
  clients_per_user: wholeNumber({
    doc: 'How many client applications one user may register.',
    default: 100,
    least: 1,
    most: 100_000,
  }),
  assertion_keys: optional({
    doc: 'The keys of a gateway in front of the service that may name the user in a signed assertion (a JWT) instead of a Bearer token. Off when not set.',
    allows: 'the https address or the path of a JSON Web Key Set',
    read: nonEmpty,
  }),
  assertion_issuer: optional({
    doc: 'The `iss` that an assertion must carry. Needed with assertion_keys.',
    allows: 'any text',
    read: nonEmpty,
  }),
  assertion_audience: optional({
    doc: 'The `aud` that an assertion must carry. Needed with assertion_keys.',
    allows: 'any text',
    read: nonEmpty,
  }),
  containers_at_once: wholeNumber({
    doc: 'How many containers run at once on this machine. Messages wait for a free place.',
    default: 16,
    least: 1,
    most: 10_000,
  }),
  default_memory: size({
    doc: 'The memory of a container whose reactor sets no mem_limit.',
    default: '512m',
    least: '8m',
    most: '1024g',
  }),
  most_memory: size({
    doc: 'The largest mem_limit that a user may set.',
    default: '4g',
    least: '8m',
    most: '1024g',
  }),
  default_cpus: decimal({
    doc: 'The cores of a container whose reactor sets no max_cpus.',
    default: 1,
    least: 0.01,
    most: 1024,
  }),
  most_cpus: decimal({
    doc: 'The largest max_cpus that a user may set.',
    default: 4,
    least: 0.01,
    most: 1024,
  }),
  most_processes: wholeNumber({
    doc: 'How many processes and threads one container may have.',
    default: 256,
    least: 1,
    most: 100_000,
  }),
  most_workers: wholeNumber({
    doc: 'The largest max_workers that a user may set.',
    default: 16,
    least: 1,
    most: 10_000,
  }),
  most_retries: wholeNumber({
    doc: 'The largest number of retries that a user may set for a reactor.',
    default: 10,
    least: 0,
    most: 100,
  }),
  retry_pause: duration({
    doc: 'How long a failed execution waits before it is tried again the first time. Doubles with each further try, up to retry_longest_pause, and varies by up to half, so that what failed together does not come back together.',
    default: '5s',
    least: '1s',
    most: '1h',
  }),
  retry_longest_pause: duration({
    doc: 'The longest wait between two tries.',
    default: '10m',
    least: '1s',
    most: '24h',
  }),
  dead_letter_retention: duration({
    doc: 'How long dead letters are kept, at most as long as the records of their executions.',
    default: '14d',
    least: '1m',
    most: '3650d',
  }),
  idempotency_window: duration({
    doc: 'How long a repeated Idempotency-Key returns the first reply.',
    default: '24h',
    least: '1s',
    most: '30d',
  }),
  longest_delay: duration({
    doc: 'The longest delay that a message may have.',
    default: '30d',
    least: '1s',
    most: '365d',
  }),
  batch_limit: wholeNumber({
    doc: 'How many messages one batch may have. Together they may be as large as one message.',
    default: 1000,
    least: 1,
    most: 10_000,
  }),
  worker_idle_limit: duration({
    doc: 'After how long without an execution a worker goes that nobody asked to keep.',
    default: '1h',
    least: '1s',
    most: '30d',
  }),
  quota_reactors: wholeNumber({
    doc: 'How many reactors one user may have. 0: any number. This and the other quotas hold for users without the role admin; an admin can give a user other quotas.',
    default: 0,
    least: 0,
    most: 1_000_000_000,
  }),
  quota_waiting_messages: wholeNumber({
    doc: 'How many messages may wait in the inboxes of one user. 0: any number.',
    default: 0,
    least: 0,
    most: 1_000_000_000,
  }),
  quota_containers: wholeNumber({
    doc: 'How many containers of one user run at once on this machine; further messages wait. 0: as many as there are places.',
    default: 0,
    least: 0,
    most: 10_000,
  }),
  quota_stored_bytes: size({
    doc: 'How many bytes of messages are kept for the reactors of one user. 0: any number.',
    default: '0',
    least: '0',
    most: '100000g',
  }),
  execution_time_limit: duration({
    doc: 'The longest timeout that a reactor may set, and its default.',
    default: '12h',
    least: '1s',
    most: '12h',
  }),
  stop_grace: duration({
    doc: 'How long a container may take to stop before it is killed.',
    default: '10s',
    least: '0',
    most: '5m',
  }),
  message_limit: size({
    doc: 'The largest message.',
    default: '64m',
    least: '1k',
    most: '512m',
  }),
  message_memory: size({
    doc: 'How much messages over 1 MiB may take together while they arrive; more are refused with 503. At least one always fits.',
    default: '256m',
    least: '1m',
    most: '64g',
  }),
  state_limit: size({
    doc: 'The largest state of a reactor. A container gets it as a variable, of which Linux takes 128 KiB.',
    default: '120k',
    least: '1k',
    most: '120k',
  }),
  result_limit: size({
    doc: 'The largest result that an execution can post. A datagram has less room, about 200 KiB.',
    default: '16m',
    least: '1k',
    most: '512m',
  }),
  results_limit: size({
    doc: 'How much one execution can give in results, all together; each counts at least 1 KiB. Datagrams over it are dropped.',
    default: '64m',
    least: '1k',
    most: '4g',
  }),
  result_retention: duration({
    doc: 'How long results that nobody took are kept after the last of an execution.',
    default: '24h',
    least: '1m',
    most: '365d',
  }),
  wait_limit: duration({
    doc: 'How long a message may ask to have its reply held until the execution ends (`wait`).',
    default: '5m',
    least: '1s',
    most: '1h',
  }),
  waiting_replies: wholeNumber({
    doc: 'How many replies are held at once (`wait`); requests for more are refused with 429.',
    default: 256,
    least: 1,
    most: 100_000,
  }),
  log_limit: size({
    doc: 'How much of the output of one execution is kept.',
    default: '16m',
    least: '1k',
    most: '4g',
  }),
  log_retention: duration({
    doc: 'How long logs are kept, at most and by default.',
    default: '24h',
    least: '1m',
    most: '365d',
  }),
  execution_retention: duration({
    doc: 'How long the records of finished executions are kept.',
    default: '90d',
    least: '1h',
    most: '3650d',
  }),
  idle_removal: duration({
    doc: 'After how long without use reactors with remove_when_idle are deleted, as executors register theirs. Never later than execution_retention, since records tell of use. 0: never.',
    default: '12h',
    least: '0',
    most: '365d',
  }),
  pull_policy: choice({
    doc: 'Whether registering an image asks its registry every time, or only when the engine does not have it.',
    default: 'always',
    of: ['always', 'missing'],
  }),
  registry_auth: optional({
    doc: 'Credentials for private registries: a file as `docker login` writes it (config.json with `auths`).',
    allows: 'the path of a readable file',
    read: nonEmpty,
  }),
  allow_privileged: flag({
    doc: 'Allow reactors that run privileged containers. Whoever may register one is root on the machine.',
    default: false,
  }),
  secrets_key: optional({
    doc: 'The key with which secrets are encrypted in the store. Several machines on one database need the same one. Make one with: openssl rand -base64 32',
    allows: '32 bytes, as base64 or hex',
    defaultText: 'generated: the file secrets.key in the data folder',
    secret: true,
    read: (given) => (isKey(given) ? given : undefined),
  }),
  secrets_old_keys: optional({
    doc: 'Keys that secrets_key has replaced. What is encrypted with them is encrypted anew at the start; then they can go.',
    allows: 'a comma-separated list of keys, each 32 bytes as base64 or hex',
    secret: true,
    read: (given) => {
      const keys = given.split(',').map((key) => key.trim());
      return keys.every(isKey) ? keys : undefined;
    },
  }),
  second_prefix: optional({
    doc: 'A second prefix under which every _svc_ variable is repeated in containers, for images that were written for it.',
    allows: 'letters, digits and underscores, such as _abaco_',
    read: (given) => (/^[A-Za-z_][A-Za-z0-9_]{0,31}$/.test(given) ? given : undefined),
  }),
  webhook_allow: list({
    doc: 'Addresses of this machine and of private networks that webhooks may reach all the same. Users choose where a webhook goes, and the service makes the call.',
    default: [],
    allows: 'IP addresses or networks such as 10.1.0.0/16, separated by commas',
    entry: isNetwork,
  }),
  webhook_timeout: duration({
    doc: 'How long a webhook may take to answer.',
    default: '10s',
    least: '1s',
    most: '2m',
  }),
  webhook_attempts: wholeNumber({
    doc: 'How often an event is tried at a webhook before it is given up.',
    default: 12,
    least: 1,
    most: 100,
  }),
  webhook_pause: duration({
    doc: 'How long to wait before an event is tried at a webhook again; twice as long each time, up to an hour.',
    default: '5s',
    least: '1s',
    most: '1h',
  }),
  event_retention: duration({
    doc: 'How long events and their deliveries are kept, to be listed and replayed.',
    default: '24h',
    least: '1m',
    most: '365d',
  }),
  audit_retention: duration({
    doc: 'How long it is kept who did what.',
    default: '365d',
    least: '1h',
    most: '3650d',
  }),
  log_level: choice({
    doc: 'How much is logged.',
    default: 'info',
    of: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
  }),
  log_format: choice({
    doc: 'How log lines look: for people, or as JSON for machines. auto: for people on a terminal.',
    default: 'auto',
    of: ['auto', 'pretty', 'json'],
  }),
};

export type SettingName = keyof typeof settings;

/** The settings of one process, read and checked. */
export type Config = {
  readonly [Name in SettingName]: (typeof settings)[Name]['defaultValue'];
};

function nonEmpty(given: string): string | undefined {
  return given === '' ? undefined : given;
}

/** Both spellings of 32 bytes: 64 hex digits, or base64 with or without its padding. */
function isKey(given: string): boolean {
  return /^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/.test(given);
}

function isNetwork(given: string): boolean {
  const [address = '', bits, ...more] = given.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  const most = family === 4 ? 32 : 128;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

function readOrigin(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const url = new URL(given);
  const bare =
    (url.pathname === '/' || url.pathname === '') && url.search === '' && url.hash === '';
  const plain = url.username === '' && url.password === '';
  return bare && plain && /^https?:$/.test(url.protocol) ? url.origin : undefined;
}

function isDatabaseAddress(given: string): boolean {
  if (given === '') return false;
  if (!given.includes('://')) return true;
  return /^postgres(ql)?:$/.test(URL.canParse(given) ? new URL(given).protocol : '');
}
