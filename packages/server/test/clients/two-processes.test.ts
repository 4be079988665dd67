import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startPostgres } from '../../../../setup/postgres.ts';
import { ClientsArea } from '../harness/clients-area.ts';
import { type RunningService, startService } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

describe('two processes on one PostgreSQL database', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  const services: RunningService[] = [];
  let areas: readonly [ClientsArea, ClientsArea];
  before(async () => {
    postgres = await startPostgres();
    const environment = { REACTORD_DATABASE: postgres.url, REACTORD_CLIENTS_PER_USER: '8' };
    const start = async () => {
      const service = await startService({ environment });
      services.push(service);
      return new ClientsArea(service);
    };
    areas = [await start(), await start()];
  });
  after(async () => {
    for (const service of services) await service.dispose();
    await postgres.stop();
  });

  /** The same request forty times, by turns to both processes. */
  const everywhere = (nameOf: (number: number) => string) =>
    Promise.all(
      Array.from({ length: 40 }, (_, number) =>
        areas[number % 2 === 0 ? 0 : 1].call('POST', '', {
          form: { clientName: nameOf(number) },
        }),
      ),
    );

  test('give a name once', async () => {
    const replies = await everywhere(() => 'wanted');
    const statuses = replies.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array.from({ length: 39 }, () => 409)]);
    const key = replies.find(({ status }) => status === 201)?.json().key;
    for (const area of areas) assert.equal((await area.call('GET', '/wanted')).json().key, key);
  });

  test('together give a user no more clients than allowed', async () => {
    const replies = await everywhere((number) => `client-${number}`);
    assert.equal(replies.filter(({ status }) => status === 201).length, 7);
    assert.equal(replies.filter(({ status }) => status === 409).length, 33);
    assert.equal((await areas[0].call('GET', '')).json().length, 8);
  });

  test('delete a client once, and show each other their changes', async () => {
    const [first, second] = areas;
    const changed = await first.call('PUT', '/wanted', { json: { description: 'changed' } });
    assert.equal(changed.status, 200);
    await until(
      'the change to show',
      async () => (await second.call('GET', '/wanted')).json().description === 'changed',
    );
    const replies = await Promise.all(
      [first, second, first, second].map((area) => area.call('DELETE', '/wanted')),
    );
    const statuses = replies.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 404, 404, 404]);
    const subscriptions = await first.call('GET', '/wanted/subscriptions');
    assert.equal(subscriptions.status, 404);
  });
});
