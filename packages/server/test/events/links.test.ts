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

const register = (fields: Readonly<Record<string, unknown>> = {}, program = 'echo "$MSG"') =>
  ada.register({
    image: scene.image.reference,
    default_environment: { RUN: program },
    ...fields,
  });

const listed = async (id: string) =>
  (await ada.call('GET', `/${id}/executions`)).json().result.executions;

const put = (id: string, fields: Readonly<Record<string, unknown>>) =>
  ada.call('PUT', `/${id}`, {
    body: JSON.stringify({ image: scene.image.reference, ...fields }),
    type: 'application/json',
  });

test("a linked reactor gets each event as a JSON message in the owner's name, once", async () => {
  const target = await register();
  const source = await register({ link: target });
  const execution = await ada.send(source);
  await ada.ended(source, execution);
  const executions = await until('three messages', async () => {
    const found = await listed(target);
    return found.length === 3 && found;
  });
  const events = [];
  for (const { id, executor } of executions.toReversed()) {
    const record = await ada.ended(target, id);
    assert.equal(executor, 'ada');
    assert.equal(record.exitCode, 0);
    events.push(JSON.parse(await ada.log(target, id)));
  }
  assert.deepEqual(
    events.map((event) => event.event_type),
    ['ACTOR_READY', 'EXECUTION_STARTED', 'EXECUTION_COMPLETE'],
  );
  assert.equal(events[2].execution_id, execution);
  assert.equal((await ada.call('GET', `/${source}`)).json().result.link, target);
});

test('a link to nothing, to itself or in a circle is refused by its name', async () => {
  const first = await register();
  const second = await register({ link: first });
  const third = await register({ link: second });
  for (const [id, link] of [
    [first, first],
    [first, second],
    [first, third],
    [first, 'nosuchreactor1'],
  ] as const) {
    const reply = await put(id, { link });
    assert.equal(reply.status, 400, reply.text);
    assert.match(reply.json().message, /^link: /);
  }
  const others = await scene.admin.register({ image: scene.image.reference });
  assert.equal((await put(first, { link: others })).status, 400);
});

test('a circle that came about in spite of the rule stops at the first event', async () => {
  const [one, other] = [await register(), await register()];
  await besideService(scene.service, async (_store, changes) => {
    for (const [id, link] of [
      [one, other],
      [other, one],
    ] as const)
      await changes.write(
        [{ kind: 'reactor', subject: id }],
        once((db) => db.updateTable('reactors').set({ link }).where('id', '=', id)),
      );
  });
  await ada.runOnce(one);
  // The service knows of it within a second or so; until then an event may go round.
  const failed = await until('an event to be stopped', async () => {
    const found = (await ada.call('GET', `/${one}/deliveries?status=FAILED`)).json().result;
    return found.length > 0 ? found : ada.send(one).then(() => undefined);
  });
  assert.match(failed[0].lastProblem, /circle/);
  const pending = await until('nothing to be on its way', async () => {
    const found = await Promise.all(
      [one, other].map((id) => ada.call('GET', `/${id}/deliveries?status=PENDING`)),
    );
    return found.every((reply) => reply.json().result.length === 0);
  });
  assert.ok(pending);
});

test('an event for a reactor that is gone is given up, in words', async () => {
  const target = await register();
  const source = await register({ link: target });
  await until('the first message', async () => (await listed(target)).length > 0);
  assert.equal((await ada.call('DELETE', `/${target}`)).status, 200);
  await ada.runOnce(source);
  const [failed] = await until('it to be given up', async () => {
    const found = (await ada.call('GET', `/${source}/deliveries?status=FAILED`)).json().result;
    return found.length === 2 && found;
  });
  assert.match(failed.lastProblem, /There is no reactor/);
});
