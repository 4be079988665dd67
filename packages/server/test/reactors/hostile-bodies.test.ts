import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type ReactorsCaller, reactorsCaller } from '../harness/reactors-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

let service: RunningService;
let ada: ReactorsCaller;
let id: string;

before(async () => {
  service = await startService({ environment: { REACTORD_LOG_LEVEL: 'error' } });
  ada = await reactorsCaller(service, 'ada');
  id = (await ada.register({ image: '127.0.0.1:1/tool' })).id;
});
after(() => service.dispose());

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('\0', '\ud800', '__proto__', 'constructor', '1e999', '-0', 'NaN', '﹪', 'true'),
);
const value = fc.oneof(text, fc.jsonValue(), fc.double(), fc.maxSafeInteger());
const fieldNames = [
  'image',
  'name',
  'description',
  'default_environment',
  'defaultEnvironment',
  'stateless',
  'max_workers',
  'mem_limit',
  'max_cpus',
  'timeout',
  'log_ex',
  'warm',
  'token',
  'hints',
  'force',
  'type',
  'queue',
  'use_container_uid',
  'privileged',
];
const likely = fc.record(
  {
    image: fc.oneof(fc.constant('127.0.0.1:1/tool'), text),
    name: value,
    description: value,
    default_environment: fc.oneof(fc.dictionary(text, value), value),
    max_workers: value,
    mem_limit: value,
    max_cpus: value,
    timeout: value,
    log_ex: value,
    warm: value,
    hints: fc.oneof(fc.array(value), value),
    force: value,
    queue: value,
  },
  { requiredKeys: ['image'] },
);
const body = fc.oneof(
  likely,
  fc.dictionary(fc.oneof(fc.constantFrom(...fieldNames), text), value, { maxKeys: 6 }),
  value,
);

test('No body makes a registration or a PUT fail on our side', async () => {
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (json, replaces) => {
      const reply = replaces
        ? await ada.call('PUT', `/${id}`, { json })
        : await ada.call('POST', '', { json });
      assert.ok(reply.status < 500, `${reply.status}: ${reply.text}`);
      assert.ok(['success', 'error'].includes(reply.json().status));
    }),
    { numRuns: 400 },
  );
});

test('No form makes a registration fail on our side', async () => {
  const field = fc.tuple(fc.oneof(fc.constantFrom(...fieldNames), text), text);
  await fc.assert(
    fc.asyncProperty(fc.array(field, { maxLength: 8 }), async (fields) => {
      const form = new URLSearchParams(
        fields.map(([name, content]): [string, string] => [
          name.toWellFormed(),
          content.toWellFormed(),
        ]),
      ).toString();
      const reply = await ada.call('POST', '', { form });
      assert.ok(reply.status < 500, `${reply.status}: ${reply.text}`);
    }),
    { numRuns: 200 },
  );
});

test('No id, cursor or page makes a request fail on our side', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (name, cursor) => {
      const paths = [
        `/${encodeURIComponent(name.toWellFormed())}`,
        `?cursor=${encodeURIComponent(cursor.toWellFormed())}`,
        `?limit=${encodeURIComponent(cursor.toWellFormed())}&offset=99999999999999999999`,
      ];
      for (const path of paths) {
        const reply = await ada.call('GET', path);
        assert.ok(reply.status < 500, `${path}: ${reply.text}`);
      }
    }),
    { numRuns: 200 },
  );
});

test('A body that would change prototypes, breaks off or is of another kind is refused', async () => {
  const refusals = [
    { body: '{"image":"a","__proto__":{"x":1}}', type: 'application/json', status: 400 },
    { body: '{"image":"a"', type: 'application/json', status: 400 },
    { body: '', type: 'application/json', status: 400 },
    { body: 'image=%ff', type: 'application/x-www-form-urlencoded', status: 400 },
    { body: 'image: a', type: 'application/yaml', status: 415 },
    { body: JSON.stringify({ image: 'a'.repeat(2 ** 21) }), type: 'application/json', status: 413 },
  ];
  for (const { body: sent, type, status } of refusals) {
    const reply = await ada.call('POST', '', { raw: { body: sent, type } });
    assert.equal(reply.status, status, `${sent.slice(0, 40)}: ${reply.text}`);
  }
});
