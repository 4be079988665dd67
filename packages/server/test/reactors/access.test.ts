import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { basic, ClientsArea } from '../harness/clients-area.ts';
import { ReactorsCaller, reactorsCaller } from '../harness/reactors-area.ts';
import { adminPassword, type RunningService, startService } from '../harness/running-service.ts';

const image = '127.0.0.1:1/tool';

let service: RunningService;
let ada: ReactorsCaller;
let bea: ReactorsCaller;
let admin: ReactorsCaller;

before(async () => {
  service = await startService();
  ada = await reactorsCaller(service, 'ada');
  bea = await reactorsCaller(service, 'bea');
  admin = await reactorsCaller(service);
});
after(() => service.dispose());

const operations = (id: string): readonly (readonly [string, string])[] => [
  ['GET', `/${id}`],
  ['PUT', `/${id}`],
  ['DELETE', `/${id}`],
];

test('To another user a reactor does not exist', async () => {
  const { id } = await ada.register({ image });
  for (const [method, path] of operations(id)) {
    const json = method === 'PUT' ? { json: { image } } : {};
    const strange = await bea.call(method, path, json);
    const missing = await bea.call(method, path.replace(id, 'nosuchreactor'), json);
    assert.equal(strange.status, 404);
    assert.equal(missing.status, 404);
    assert.equal(strange.text.replaceAll(id, 'nosuchreactor'), missing.text);
  }
  assert.deepEqual((await bea.call('GET', '')).json().result, []);
  assert.equal((await ada.show(id)).owner, 'ada');
});

test('An admin may do everything with any reactor, and lists their own unless all are asked for', async () => {
  const { id } = await ada.register({ image, name: 'of ada' });
  assert.equal((await admin.show(id)).owner, 'ada');
  const put = await admin.call('PUT', `/${id}`, { json: { image, mem_limit: '8g' } });
  assert.equal(put.json().result.memLimit, '8g');
  assert.equal(put.json().result.owner, 'ada');
  const ids = async (query: string) =>
    (await admin.call('GET', query)).json().result.map((record: { id: string }) => record.id);
  assert.ok(!(await ids('')).includes(id));
  assert.ok((await ids('?all=true')).includes(id));
  const refused = await ada.call('GET', '?all=true');
  assert.equal(refused.status, 403);
  assert.match(refused.json().message, /^all: only admins/);
  assert.equal((await ada.call('GET', '?all=false')).status, 200);
  assert.equal((await admin.call('DELETE', `/${id}`)).status, 200);
  assert.equal((await ada.call('GET', `/${id}`)).status, 404);
});

test('A user without the grant gets 403, and nobody gets 401', async () => {
  const cleo = await reactorsCaller(service, 'cleo', []);
  const nobody = new ReactorsCaller(service, '');
  for (const [method, path] of [['GET', ''], ['POST', ''], ...operations('anyreactor')] as const) {
    const refused = await cleo.call(method, path);
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.json().message, /cleo has no permission for the reactors area/);
    const unknown = await nobody.call(method, path);
    assert.equal(unknown.status, 401);
    assert.match(unknown.headers.get('www-authenticate') ?? '', /Bearer/);
  }
});

test('A client that is not subscribed to Actors gets 403', async () => {
  const clients = new ClientsArea(service, basic('ada', `ada ${adminPassword}`));
  await clients.call('DELETE', '/tests/subscriptions', { form: { name: 'Actors' } });
  const refused = await ada.call('GET', '');
  assert.equal(refused.status, 403);
  assert.match(refused.json().message, /not subscribed to the API Actors/);
  await clients.call('POST', '/tests/subscriptions', { form: { name: 'Actors' } });
  assert.equal((await ada.call('GET', '')).status, 200);
});

test('Both spellings of the area and any slashes are the same', async () => {
  const paths = ['/actors/v2', '/reactors/v2', '/actors/v2/', '/reactors/v2/', '//reactors//v2//'];
  const ids: string[] = [];
  for (const area of paths) {
    const reply = await bea.call('POST', '', { area, json: { image } });
    assert.equal(reply.status, 201, `${area}: ${reply.text}`);
    const { id, _links } = reply.json().result;
    assert.equal(_links.self, `${service.url}/actors/v2/${id}`);
    ids.push(id);
  }
  for (const area of paths) {
    const listed = (await bea.call('GET', '', { area })).json().result;
    assert.deepEqual(
      listed.map((record: { id: string }) => record.id),
      ids.toReversed(),
    );
    const [id] = ids;
    assert.equal((await bea.call('GET', `/${id}/`, { area })).json().result.id, id);
    const put = await bea.call('PUT', `/${id}`, { area, json: { image } });
    assert.equal(put.status, 200);
  }
  for (const [number, area] of paths.entries())
    assert.equal((await bea.call('DELETE', `/${ids[number]}`, { area })).status, 200);
  assert.deepEqual((await bea.call('GET', '')).json().result, []);
});

test('The list comes in pages, newest first, by offset or by cursor', async () => {
  const dora = await reactorsCaller(service, 'dora');
  const ids: string[] = [];
  for (let number = 0; number < 7; number += 1) ids.unshift((await dora.register({ image })).id);
  const page = async (query: string) => {
    const reply = await dora.call('GET', query);
    assert.equal(reply.status, 200, reply.text);
    const next = /<[^>]*\/actors\/v2(\?[^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '');
    const found: string[] = reply.json().result.map((record: { id: string }) => record.id);
    return { found, next: next?.[1] };
  };
  assert.deepEqual((await page('?limit=3&offset=2')).found, ids.slice(2, 5));
  const walked: string[] = [];
  let query: string | undefined = '?limit=3';
  while (query !== undefined) {
    const { found, next } = await page(query);
    walked.push(...found);
    // What is registered meanwhile does not shift the pages.
    if (walked.length === 3) await dora.register({ image });
    query = next;
  }
  assert.deepEqual(walked, ids);
  assert.equal((await page('?limit=1000')).next, undefined);
  for (const wrong of ['?limit=0', '?limit=1001', '?offset=-1', '?cursor=nonsense', '?limit=x'])
    assert.equal((await dora.call('GET', wrong)).status, 400, wrong);
  const { next = '' } = await page('?limit=1');
  assert.equal((await dora.call('GET', `${next}&offset=1`)).status, 400);
});

test('Wrong verbs are answered 405 with the right ones, and replies come naked when asked for', async () => {
  const { id } = await ada.register({ image });
  const wrong = await ada.call('PATCH', `/${id}`, { json: {} });
  assert.equal(wrong.status, 405);
  assert.match(wrong.headers.get('allow') ?? '', /GET.*PUT.*DELETE/);
  assert.equal((await ada.call('GET', `/${id}?naked=true`)).json().id, id);
  const gone = await ada.call('DELETE', `/${id}?naked=true`);
  assert.equal(gone.text, 'null');
});

test('The description of the API shows the area once, with names and an example', async () => {
  const reply = await fetch(`${service.url}/openapi.json`);
  const { paths, components } = JSON.parse(await reply.text());
  for (const path of ['', '/{reactorId}']) {
    assert.ok(`/actors/v2${path}` in paths);
    assert.ok(!(`/reactors/v2${path}` in paths));
  }
  assert.ok('Reactor' in components.schemas);
  assert.ok('RegisteredReactor' in components.schemas);
});
