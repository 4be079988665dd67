import fc from 'fast-check';
import type { Operation, Parameter, Schema } from './api-description.ts';

/** A request in which `‹kind:n›` stands for a thing that is there when it is sent. */
export interface Planned {
  readonly operation: Operation;
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: CallerKind;
  readonly body: PlannedBody | undefined;
}

export type CallerKind = (typeof callerKinds)[number];

type PlannedBody =
  | { readonly type: string; readonly value: unknown }
  | { readonly type: string; readonly bytes: Uint8Array };

const callerKinds = [
  'admin',
  'owner',
  'other',
  'passing',
  'password',
  'client',
  'nonce',
  'nobody',
  'garbage',
] as const;

const thing = (kind: string) => fc.nat(40).map((place) => `‹${kind}:${place}›`);

/** Where a field's name says what it names. */
const things: Readonly<Record<string, fc.Arbitrary<string>>> = {
  reactorId: fc.oneof(thing('reactor'), thing('alias')),
  actor_id: thing('reactor'),
  actors: fc.oneof(thing('reactor'), thing('alias')),
  link: thing('reactor'),
  reactor: thing('reactor'),
  alias: fc.oneof(thing('alias'), thing('fresh')),
  executionId: thing('execution'),
  workerId: thing('worker'),
  nonceId: thing('nonce'),
  deliveryId: thing('delivery'),
  clientName: fc.oneof(thing('clientName'), thing('fresh')),
  client_id: thing('clientKey'),
  client_secret: thing('clientSecret'),
  username: fc.oneof(thing('username'), thing('fresh')),
  user: fc.oneof(thing('username'), fc.constantFrom('WORLD', 'ABACO_WORLD')),
  password: thing('password'),
  refresh_token: thing('refreshToken'),
  // What is revoked here must not be what the run itself needs.
  token: fc.oneof(thing('refreshToken'), fc.constant('rct_at_x')),
  scope: fc.constant('PRODUCTION'),
  // Hardly any image can be had: a run is not about containers.
  image: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom('127.0.0.1:1/tool', '127.0.0.1:1/tool:two') },
    { weight: 1, arbitrary: thing('image') },
  ),
  name: fc.oneof(thing('config'), thing('fresh'), fc.constantFrom('*', 'Actors')),
  value: fc.oneof(thing('hush'), fc.jsonValue({ maxDepth: 2 }).map(String)),
  registry_credentials: thing('config'),
  webhook: fc.constantFrom('https://127.0.0.1:1/hook', 'http://example.invalid/', 'ftp://x'),
  callbackUrl: fc.constantFrom('https://app.example.org/cb', 'http://localhost:1/cb', ''),
  redirect_uri: fc.constantFrom('https://app.example.org/cb', 'https://else.example.org/'),
  cron_schedule: fc.constantFrom('0 6 * * *', 'now + 1 day', '2090-01-01 00 + 6 hours', '* *'),
  mem_limit: fc.constantFrom('64m', '1g', '6', 'm'),
  tier: fc.constantFrom('Unlimited', 'gold', 'Tin'),
  apiName: fc.constantFrom('*', 'Actors', 'Nothing'),
  email: fc.constantFrom('a@example.org', 'no address'),
};

const hostileText = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\r\nSet-Cookie: a=b',
    '\ud800',
    '__proto__',
    'constructor',
    '../../etc/passwd',
    '%00',
    '%',
    "' or 1=1 --",
    '1e999',
    '-0',
    'NaN',
    'null',
    'true',
    '99999999999999999999',
    '9007199254740993',
    '{"a":1}',
    '𝒳'.repeat(40),
    'x'.repeat(5000),
    '<script>alert(1)</script>',
    '‮abc',
  ),
);

const hostileValue = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(null, 0, -1, 1e308, 2 ** 53, true, [], {}, [[]], { $gt: '' }),
);

/** Now and then something else than what is wanted. */
const mostly = <Good, Bad>(good: fc.Arbitrary<Good>, bad: fc.Arbitrary<Bad>, weight = 14) =>
  fc.oneof({ weight, arbitrary: good }, { weight: 1, arbitrary: bad });

function valuesOf(schema: Schema, name = ''): fc.Arbitrary<unknown> {
  const known = Object.hasOwn(things, name) ? things[name] : undefined;
  const isText = schema['type'] === undefined || schema['type'] === 'string';
  if (known !== undefined && isText && !Array.isArray(schema['enum'])) return known;
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  if (Array.isArray(schema['anyOf']))
    return fc.oneof(...schema['anyOf'].map((each: Schema) => valuesOf(each)));
  switch (schema['type']) {
    case 'string':
      return fc.oneof(thing('fresh'), fc.string({ maxLength: 12 }));
    case 'integer':
      return fc.integer({
        min: schema['minimum'] ?? -10,
        max: Math.min(schema['maximum'] ?? 1000, 2 ** 31 - 1),
      });
    case 'number':
      return fc.double({ min: 0, max: 4, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valuesOf(schema['items'] ?? {}, name), { maxLength: 3 });
    case 'object':
      return objectOf(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf(schema: Schema): fc.Arbitrary<unknown> {
  const properties: Readonly<Record<string, Schema>> = schema['properties'] ?? {};
  const required: readonly string[] = schema['required'] ?? [];
  if (Object.keys(properties).length === 0)
    return fc.dictionary(fc.constantFrom('A', 'B_2', '_svc_x', 'MSG', 'a b'), fc.string(), {
      maxKeys: 3,
    });
  const values = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [
      name,
      mostly(valuesOf(each, name), hostileValue, 30),
    ]),
  );
  const optional = Object.keys(values).filter((name) => !required.includes(name));
  // A few of the optional fields at a time: with all of them something is nearly always wrong.
  const whole = fc
    .subarray(optional, { maxLength: Math.min(4, optional.length) })
    .chain((chosen) =>
      fc.record(
        Object.fromEntries(
          [...required, ...chosen].map((name) => [name, values[name] ?? hostileValue]),
        ),
      ),
    );
  const lacking = fc
    .record(values, { requiredKeys: [] })
    .map((fields) => Object.fromEntries(Object.entries(fields).slice(0, 5)));
  const odd = fc
    .tuple(whole, fc.oneof(hostileText, fc.constantFrom('isSecret', 'actorId')), hostileValue)
    .map(([fields, name, value]) => ({ ...fields, [name]: value }));
  return fc.oneof(
    { weight: 10, arbitrary: whole },
    { weight: 2, arbitrary: lacking },
    { weight: 2, arbitrary: odd },
  );
}

const textTypes = ['application/json', 'application/x-www-form-urlencoded', 'text/plain'];
const oddTypes = [
  'application/json; charset=utf-16',
  'application/xml',
  'application/octet-stream',
  'application/x-ndjson',
  'application/cloudevents+json',
  'multipart/form-data; boundary=x',
  'text/plain; charset=latin1',
  ';;;',
  'x',
];

function bodyOf({ method, bodies, path }: Operation): fc.Arbitrary<PlannedBody | undefined> {
  if (method === 'GET' || method === 'HEAD') return fc.constant(undefined);
  const described = [...bodies].map(([type, { schema }]) =>
    valuesOf(schema).map((value) => ({ type, value })),
  );
  const asForm = [...bodies.values()].map(({ schema }) =>
    valuesOf(schema).map((value) => ({ type: 'application/x-www-form-urlencoded', value })),
  );
  const anything = fc
    .tuple(fc.constantFrom(...textTypes, ...oddTypes), hostileValue)
    .map(([type, value]) => ({ type, value }));
  const bytes = fc
    .tuple(fc.constantFrom(...textTypes, ...oddTypes), fc.uint8Array({ maxLength: 200 }))
    .map(([type, raw]) => ({ type, bytes: raw }));
  const none = fc.constant(undefined);
  if (described.length > 0)
    return fc.oneof(
      { weight: 12, arbitrary: fc.oneof(...described) },
      { weight: 3, arbitrary: fc.oneof(...asForm) },
      { weight: 1, arbitrary: anything },
      { weight: 1, arbitrary: bytes },
      { weight: 1, arbitrary: none },
    );
  const takesAnything = /\/(messages|results)$/.test(path) && method === 'POST';
  return fc.oneof(
    { weight: takesAnything ? 4 : 1, arbitrary: anything },
    { weight: takesAnything ? 4 : 1, arbitrary: bytes },
    { weight: takesAnything ? 1 : 12, arbitrary: none },
  );
}

const terms = fc.tuple(
  fc.constantFrom('id', 'status', 'owner', 'image', 'createTime', 'actorId', 'runtime', 'logs'),
  fc.constantFrom(...'. .eq .neq .lt .lte .gt .gte .in .nin .like .nlike .between .x'.split(' ')),
  fc.oneof(
    fc.constantFrom('READY', 'a,b', '1,2', '2020-01-01', '2020-01-01,2030-01-01', '%', '0', 'true'),
    hostileText,
  ),
);

function queryOf({ parameters }: Operation) {
  const asked = parameters.filter((each) => each.in === 'query');
  const known = asked.map((each) =>
    mostly(valueInText(each), hostileText, 20).map((value): [string, string] => [each.name, value]),
  );
  const own = known.length === 0 ? fc.constant([]) : fc.array(fc.oneof(...known), { maxLength: 3 });
  const stray = fc.tuple(
    fc.oneof(hostileText, fc.constantFrom('access_token', 'GREETING', 'PATH', 'limit', 'x-nonce')),
    hostileText,
  );
  const strays = fc.oneof(
    { weight: 6, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(stray, { maxLength: 2 }) },
  );
  const searches = asked.some(({ name }) => name === 'search')
    ? fc.array(
        terms.map(([field, op, value]): [string, string] => [
          op === '.' ? field : `${field}${op}`,
          value,
        ]),
        { maxLength: 2 },
      )
    : fc.constant([]);
  return fc.tuple(own, strays, searches).map((lists) => lists.flat());
}

/** Held replies are left after a moment; none of these holds one for long. */
const shortly: Readonly<Record<string, readonly string[]>> = {
  wait: ['0', '0.1', '-1', 'x', '1e9'],
  delay: ['0', '1', '3600', '-1', '1e99'],
  _svc_synchronous: ['true', 'false', '2'],
};

function valueInText({ name, schema }: Parameter): fc.Arbitrary<string> {
  const short = shortly[name];
  if (short !== undefined) return fc.constantFrom(...short);
  if (name === 'naked' || name === 'pretty') return fc.constantFrom('true', 'false');
  return valuesOf(schema, name).map((value) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );
}

const pathOf = ({ parameters, path }: Operation) =>
  fc.record(
    Object.fromEntries(
      parameters
        .filter((each) => each.in === 'path')
        .map(({ name }) => {
          const kind = path.includes('/configs/') && name === 'name' ? thing('config') : undefined;
          return [name, mostly(kind ?? things[name] ?? hostileText, hostileText, 16)];
        }),
    ),
  );

const headers = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          'if-match',
          'last-event-id',
          'accept',
          'idempotency-key',
          'x-request-id',
          'ce-id',
          'origin',
          'cookie',
          'accept-encoding',
        ),
        fc.oneof(
          fc.constantFrom('*', '"x"', 'W/"1"', 'text/event-stream', '0', '-1', 'a=b; c', 'null'),
          fc.stringMatching(/^[!-~]{1,30}$/),
        ),
      )
      .map(([name, value]) => ({ [name]: value })),
  },
);

/** Some of those who may call an operation come more often than those who may not. */
function callerOf({ path }: Operation): fc.Arbitrary<CallerKind> {
  const [usual, ...more]: CallerKind[] = path.startsWith('/clients')
    ? ['password', 'owner', 'passing']
    : path.startsWith('/profiles')
      ? ['admin', 'owner', 'passing']
      : /^\/(token|revoke|introspect|device_auth)/.test(path)
        ? ['client', 'nobody']
        : ['owner', 'admin', 'other', 'nonce'];
  return fc.oneof(
    { weight: 10, arbitrary: fc.constant(usual ?? 'owner') },
    { weight: 4, arbitrary: fc.constantFrom(...more) },
    { weight: 2, arbitrary: fc.constantFrom(...callerKinds) },
  );
}

export function requestsOf(operations: readonly Operation[]): fc.Arbitrary<Planned> {
  const each = operations.map((operation) =>
    fc.record({
      operation: fc.constant(operation),
      path: pathOf(operation),
      query: queryOf(operation),
      headers,
      caller: callerOf(operation),
      body: bodyOf(operation),
    }),
  );
  return fc.nat(each.length - 1).chain((place) => each[place] ?? fc.constant(assertNever()));
}

function assertNever(): never {
  throw new Error('there is an arbitrary for each operation');
}
