import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { once } from '../../src/store/statement.ts';
import { besideService } from '../harness/beside-service.ts';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

let scene: Scene;
let ada: Sender;

before(async () => {
  scene = await openScene();
  ada = await scene.user('ada');
});
after(() => scene.dispose());

const program = 'echo "$MSG $_svc_username $Time_msg_queued"';
const fields = (more: Readonly<Record<string, unknown>>) => ({
  image: scene.image.reference,
  default_environment: { RUN: program },
  ...more,
});
const show = async (id: string) => (await ada.call('GET', `/${id}`)).json().result;
const put = async (id: string, more: Readonly<Record<string, unknown>>) => {
  const reply = await ada.call('PUT', `/${id}`, {
    body: JSON.stringify(fields(more)),
    type: 'application/json',
  });
  return { status: reply.status, ...reply.json() };
};
const listed = async (id: string) =>
  (await ada.call('GET', `/${id}/executions`)).json().result.executions;

/** As if the time had come while nobody looked. */
const makeDue = (id: string) =>
  besideService(scene.service, (store) =>
    store.write(
      once((db) =>
        db
          .updateTable('reactors')
          .set({ cron_next_at: Date.now() - 90_000 })
          .where('id', '=', id),
      ),
    ),
  );

test("a schedule fires in the owner's name, says when it comes next, and goes on", async () => {
  const id = await ada.register(fields({ cron_schedule: 'now + 1 day' }));
  const [{ id: execution, executor }] = await until('it to fire', async () => {
    const found = await listed(id);
    return found.length > 0 && found;
  });
  assert.equal(executor, 'ada');
  await ada.ended(id, execution);
  assert.match(
    await ada.log(id, execution),
    /^This is your cron execution ada \d{4}-\d\d-\d\dT[\d:.]+Z\n$/,
  );
  const { cronOn, cronSchedule, cronNextEx, cronNextTime, createTime } = await show(id);
  assert.deepEqual([cronOn, cronSchedule], [true, 'now + 1 day']);
  assert.equal(Date.parse(cronNextTime) - Date.parse(createTime), 86_400_000);
  assert.equal(cronNextEx, cronNextTime.slice(0, 13).replace('T', ' '));
  // The same schedule again goes on as it was.
  const same = await put(id, { cron_schedule: 'now + 1 day', description: 'new' });
  assert.equal(same.result.cronNextTime, cronNextTime);
  assert.equal((await listed(id)).length, 1);
});

test('it can be switched off and on, changed and removed by PUT', async () => {
  const id = await ada.register(
    fields({ cronSchedule: 'CRON_TZ=Europe/Berlin 0 6 * * *', cronOn: false }),
  );
  const off = await show(id);
  assert.deepEqual([off.cronOn, off.cronNextEx, off.cronNextTime], [false, null, null]);
  assert.equal(off.cronSchedule, 'CRON_TZ=Europe/Berlin 0 6 * * *');
  const on = await put(id, { cron_schedule: 'CRON_TZ=Europe/Berlin 0 6 * * *' });
  assert.match(on.result.cronNextTime, /T0[45]:00:00\.000Z$/);
  const changed = await put(id, { cron_schedule: '*/10 * * * *' });
  assert.match(changed.result.cronNextTime, /:\d0:00\.000Z$/);
  const removed = await put(id, {});
  assert.deepEqual(
    [removed.result.cronSchedule, removed.result.cronOn, removed.result.cronNextTime],
    [null, false, null],
  );
});

test('an interval that was switched off goes on where it would be, though its start is past', async () => {
  const text = 'now + 6 hours';
  const id = await ada.registerOnly(fields({ cron_schedule: text }));
  const { createTime } = await show(id);
  assert.equal((await put(id, { cron_schedule: text, cron_on: false })).result.cronNextTime, null);
  await besideService(scene.service, (store) =>
    store.write(
      once((db) =>
        db
          .updateTable('reactors')
          .set({ cron_start_at: Date.parse(createTime) - 7 * 3_600_000 })
          .where('id', '=', id),
      ),
    ),
  );
  const on = await put(id, { cron_schedule: text });
  assert.equal(on.status, 'success');
  assert.equal(Date.parse(on.result.cronNextTime) - Date.parse(createTime), 5 * 3_600_000);
});

test('what is no schedule is refused by its name, with an example', async () => {
  const wrong = ['every day', '99 * * * *', 'now + 3', '2001-01-01 08 + 1 day', '0 0 30 2 *'];
  for (const cron_schedule of wrong) {
    const reply = await ada.call('POST', '', {
      body: JSON.stringify(fields({ cron_schedule })),
      type: 'application/json',
    });
    assert.equal(reply.status, 400, cron_schedule);
    assert.match(reply.json().message, /^cron_schedule: .*CRON_TZ=Europe\/Berlin/);
  }
  const alone = await ada.call('POST', '', {
    body: JSON.stringify(fields({ cron_on: true })),
    type: 'application/json',
  });
  assert.equal(alone.status, 400);
  assert.match(alone.json().message, /^cron_on: /);
});

test('a service that is killed again and again around a firing fires once', async () => {
  const id = await ada.register(fields({ cron_schedule: '0 0 1 1 *' }));
  await makeDue(id);
  for (let kills = 0; kills < 2; kills += 1) await scene.restart('SIGKILL');
  await until('it to fire', async () => (await listed(id)).length > 0);
  await scene.restart('SIGKILL');
  const { cronNextTime } = await show(id);
  assert.match(cronNextTime, /-01-01T00:00:00\.000Z$/);
  const [{ id: execution }] = await listed(id);
  assert.equal((await ada.ended(id, execution)).exitCode, 0);
  assert.equal((await listed(id)).length, 1);
});
