import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createDatabase, startPostgres } from '../../../../setup/postgres.ts';
import { type Sender, senderFor } from '../harness/execution-scene.ts';
import { makeRunImage, type RunImage } from '../harness/run-image.ts';
import {
  adminPassword,
  launchService,
  type RunningService,
  startService,
} from '../harness/running-service.ts';

const { REACTORD_TEST_POSTGRES: given } = process.env;

/** Says what the service answers at the address that the container was given. */
const askService = `
  hostport="\${_svc_api_server#http://}"; port="\${hostport#*:}"
  ip=$(awk '/host.docker.internal/ { print $1; exit }' /etc/hosts)
  printf 'GET /health HTTP/1.0\\r\\n\\r\\n' | nc "$ip" "$port" | head -n 1
  sleep "$MSG"`;

describe('a worker', () => {
  let service: RunningService;
  let worker: RunningService;
  let admin: Sender;
  let image: RunImage;
  const undo: (() => Promise<void>)[] = [];
  before(async () => {
    const server = given === undefined ? await startPostgres() : undefined;
    if (server !== undefined) undo.push(() => server.stop());
    const database = await createDatabase(given ?? server?.url ?? '');
    undo.push(() => database.drop());
    image = await makeRunImage();
    undo.push(() => image.remove());
    const environment = {
      REACTORD_DATABASE: database.url,
      REACTORD_PULL_POLICY: 'missing',
      REACTORD_SECRETS_KEY: '0'.repeat(64),
      REACTORD_CONTAINERS_AT_ONCE: '1',
    };
    service = await startService({ environment: { ...environment, REACTORD_HOST: '0.0.0.0' } });
    undo.push(service.dispose);
    worker = await startService({
      flags: ['worker'],
      environment: {
        ...environment,
        REACTORD_BASE_URL: `http://host.docker.internal:${new URL(service.url).port}`,
        REACTORD_ALLOW_HTTP: 'true',
      },
    });
    undo.push(worker.dispose);
    admin = await senderFor(service, 'admin', adminPassword);
  });
  after(async () => {
    for (const step of undo.reverse()) await step();
  });

  test('runs what the service has no place for, in containers that reach the service', async () => {
    const id = await admin.register({
      image: image.reference,
      max_workers: 2,
      default_environment: { RUN: askService },
    });
    // The service has one place. The first is held until the second has ended.
    const [first, second] = [await admin.send(id, '30'), await admin.send(id, '0')];
    const record = await admin.ended(id, second);
    assert.equal(record.status, 'COMPLETE', record.statusMessage);
    assert.equal((await admin.record(id, first)).status, 'RUNNING');
    assert.match(await admin.log(id, second), /^HTTP\/1\.[01] 200/);
    await admin.call('DELETE', `/${id}/executions/${first}`);
    await admin.ended(id, first);
  });

  test('serves its health and its numbers, and nothing of the API', async () => {
    for (const path of ['/health', '/ready', '/metrics'])
      assert.equal((await fetch(`${worker.url}${path}`)).status, 200, path);
    for (const path of ['/token', '/actors/v2', '/clients/v2', '/login', '/openapi.json'])
      assert.equal((await fetch(`${worker.url}${path}`)).status, 404, path);
  });

  test('refuses SQLite, and a service whose address it does not know, in one sentence', async (t) => {
    for (const [environment, words] of [
      [{}, /SQLite cannot be shared/],
      [{ REACTORD_DATABASE: 'postgres://nobody@127.0.0.1:1/none' }, /set base_url/],
    ] as const) {
      const refused = launchService({ flags: ['worker'], environment });
      t.after(refused.dispose);
      assert.equal(await refused.ended, 2);
      assert.match(refused.errors(), words);
      assert.equal(refused.errors().trim().split('\n').length, 1);
    }
  });
});
