import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';

let scene: Scene;
let ada: Sender;
let bob: Sender;
let greeter: string;
let failer: string;

before(async () => {
  scene = await openScene();
  ada = await scene.user('ada');
  bob = await scene.user('bob');
  const image = scene.image.reference;
  greeter = await ada.register({
    image,
    name: 'Greeter',
    description: 'says hello to 100%',
    default_environment: { RUN: 'echo hello "$MSG"; echo needle-$MSG' },
  });
  failer = await ada.register({
    image,
    name: 'failer',
    timeout: 77,
    default_environment: { RUN: 'echo oh no; exit 3' },
  });
  await bob.register({ image, name: 'Greeter of Bob' });
  await ada.runOnce(greeter, 'one');
  await ada.runOnce(greeter, 'two');
  await ada.runOnce(failer);
});
after(() => scene.dispose());

type Json = ReturnType<typeof JSON.parse>;

const found = async (path: string, sender = ada): Promise<Json> => {
  const reply = await sender.call('GET', path);
  assert.equal(reply.status, 200, reply.text);
  return reply.json().result;
};
const names = async (terms: string, sender = ada): Promise<string[]> =>
  (await found(`/search/actors?${terms}`, sender)).search.map(({ name }: Json) => name);

test('reactors are found by every kind of term, among those that one may see', async () => {
  assert.deepEqual(await names('name=Greeter'), ['Greeter']);
  assert.deepEqual(await names('name.eq=greeter'), []);
  assert.deepEqual(await names('name.like=GREET'), ['Greeter']);
  assert.deepEqual(await names('name.nlike=greet'), ['failer']);
  assert.deepEqual(await names('name.like=f*r'), ['failer']);
  assert.deepEqual(await names('name.like=ail*'), []);
  assert.deepEqual(await names('description.like=100%25'), ['Greeter']);
  assert.deepEqual(await names('description.like=1_0'), []);
  assert.deepEqual(await names('name.in=failer,nobody'), ['failer']);
  assert.deepEqual(await names(`name.in=['failer','Greeter']`), ['failer', 'Greeter']);
  assert.deepEqual(await names('name.nin=failer'), ['Greeter']);
  assert.deepEqual(await names('timeout.between=70,80'), ['failer']);
  assert.deepEqual(await names('timeout.gt=77'), ['Greeter']);
  assert.deepEqual(await names('timeout.lte=77&status=ready'), ['failer']);
  assert.deepEqual(await names('stateless=false'), []);
  assert.deepEqual(await names('link=none&create_time.gt=2020'), ['failer', 'Greeter']);
  assert.deepEqual(await names('createTime.lt=2020-01-31T12:00:00Z'), []);
  assert.deepEqual(await names('search=hello+says'), ['Greeter']);
  assert.deepEqual(await names('exactsearch=hello+says'), []);
  assert.deepEqual(await names('exactsearch=says+hello'), ['Greeter']);
  assert.deepEqual(await names('owner=ada&pretty=true&naked=false&limit=1'), ['failer']);
  assert.deepEqual(await names('name.like=greeter', bob), ['Greeter of Bob']);
  assert.deepEqual(await names('name.like=greeter&all=true', scene.admin), [
    'Greeter of Bob',
    'Greeter',
  ]);
  const { _metadata } = await found('/search/actors?skip=1');
  assert.deepEqual(_metadata, {
    totalCount: 2,
    totalIsExact: true,
    recordsSkipped: 1,
    recordLimit: 100,
    countReturned: 1,
  });
});

test('the lists take the same terms', async () => {
  const reactors = await found('?name.like=greet');
  assert.deepEqual(
    reactors.search.map(({ id }: Json) => id),
    [greeter],
  );
  assert.ok(Array.isArray(await found('?limit=1&pretty=true')));
  const executions = await found(`/${failer}/executions?exitCode=3&status=COMPLETE`);
  assert.equal(executions._metadata.totalCount, 1);
  assert.equal(executions.search[0].actorId, failer);
  assert.equal((await found(`/${failer}/executions?exitCode=0`))._metadata.totalCount, 0);
  assert.equal((await bob.call('GET', `/${failer}/executions?exitCode=3`)).status, 404);
  assert.equal((await found(`/${greeter}/executions`)).executions.length, 2);
});

test('executions are found by status, exit code and time', async () => {
  const ids = async (terms: string, sender = ada): Promise<string[]> =>
    (await found(`/search/executions?${terms}`, sender)).search.map(({ actorId }: Json) => actorId);
  assert.deepEqual(await ids('exit_code.neq=0'), [failer]);
  assert.deepEqual(await ids('exit_code.gt=2'), [failer]);
  assert.deepEqual(await ids('status=COMPLETE'), [failer, greeter, greeter]);
  assert.deepEqual(await ids('status.in=ERROR,RUNNING'), []);
  assert.deepEqual(await ids(`actorId=${greeter}`), [greeter, greeter]);
  assert.deepEqual(await ids(`actorId=${greeter}`, bob), []);
  const { search } = await found('/search/executions?');
  const [newest, middle, oldest] = search.map((record: Json) => record.messageReceivedTime);
  assert.deepEqual(await ids(`messageReceivedTime.gte=${newest}`), [failer]);
  assert.deepEqual(await ids(`message_received_time.between=${oldest},${middle}`), [
    greeter,
    greeter,
  ]);
  assert.deepEqual(await ids(`messageReceivedTime.lt=${oldest}`), []);
  const first = await ada.call('GET', '/search/executions?limit=2&status=COMPLETE');
  const next = /\/actors\/v2(\/[^>]*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  assert.deepEqual(
    [...first.json().result.search, ...(await found(next)).search].map(({ id }: Json) => id),
    search.map(({ id }: Json) => id),
  );
});

test('logs are found by what was written, workers while they work', async () => {
  const logs = await found('/search/logs?search=NEEDLE');
  assert.deepEqual(
    logs.search.map((entry: Json) => entry.logs),
    ['needle-two', 'needle-one'],
  );
  assert.deepEqual((await found('/search/logs?exactsearch=oh+no&exitCode=3')).search.length, 1);
  assert.deepEqual((await found('/search/logs?search=needle', bob)).search, []);
  const sleeper = await ada.register({
    image: scene.image.reference,
    default_environment: { RUN: 'sleep 60' },
  });
  const execution = await ada.send(sleeper);
  const { workerId } = await ada.running(sleeper, execution);
  const workers = await found(`/search/workers?actorId=${sleeper}`);
  assert.deepEqual(
    workers.search.map(({ id, status }: Json) => [id, status]),
    [[workerId, 'BUSY']],
  );
  assert.deepEqual(workers.search, await found(`/${sleeper}/workers`));
  const busy = await found('/search/workers?status=BUSY');
  assert.deepEqual(busy.search, workers.search);
  assert.equal((await found('/search/workers?status.neq=busy&image.like=none')).search.length, 0);
  assert.deepEqual((await found('/search/workers', bob)).search, []);
  await ada.call('DELETE', `/${sleeper}`);
});

test('what cannot be searched for is refused by its name', async () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['/search/actors?nmae=x', /nmae .*did you mean name/],
    ['/search/actors?max_worker=1', /did you mean max_?workers/i],
    ['/search/actors?name.lik=x', /name\.lik: lik is not an operator \(did you mean like/],
    ['/search/actors?timeout=soon', /timeout: takes a number/],
    ['/search/actors?timeout.like=1', /like and nlike are for text/],
    ['/search/actors?timeout.between=1', /two values/],
    ['/search/actors?status=HAPPY', /status: takes one of SUBMITTED/],
    ['/search/actors?createTime.gt=yesterday', /createTime\.gt: takes a time/],
    ['/search/actors?createTime.gt=none', /none goes with/],
    ['/search/actors?name=a&name=b', /name: takes one value/],
    ['/search/actors?name.like=%00', /name\.like: takes up to/],
    ['/search/actors?limit=0', /limit: /],
    ['/search/actors?cursor=%21%21', /cursor: /],
    ['/search/executions?cursor=%21%21', /cursor: /],
    ['/search/executions?finalState.StartedAt.gt=2', /finalState/],
    [
      `/search/actors?${'name=x&'.repeat(1)}${'description.like=y&'.repeat(0)}foo.bar=1`,
      /foo\.bar/,
    ],
    ['?imgae=x', /did you mean image/],
    [`/${'x'.repeat(14)}/executions?staus=x`, /did you mean status/],
  ];
  for (const [path, message] of refused) {
    const reply = await ada.call('GET', path);
    assert.equal(reply.status, 400, `${path} ${reply.text}`);
    assert.match(reply.json().message, message);
  }
  assert.equal((await ada.call('GET', '/search/unicorns')).status, 404);
  assert.equal((await ada.call('GET', '/search/actors?all=true')).status, 403);
  const hostile = `name.like=${encodeURIComponent("%'; drop table reactors; --\\")}`;
  assert.deepEqual(await names(hostile), []);
});

test('what others share is found too, for as long as they share it', async () => {
  const eve = await scene.user('eve');
  const share = async (user: string, level: string, id: string) => {
    const sent = { body: JSON.stringify({ user, level }), type: 'application/json' };
    assert.equal((await ada.call('POST', `/${id}/permissions`, sent)).status, 200);
  };
  const seen = async () => {
    const all = await Promise.all(
      ['actors?', 'executions?', 'logs?search=needle', 'workers?'].map((what) =>
        found(`/search/${what}`, eve),
      ),
    );
    return all.map(({ search, _metadata }) => {
      assert.equal(_metadata.totalCount, search.length);
      return search.map(({ id, actorId }: Json) => actorId ?? id);
    });
  };
  assert.deepEqual(await seen(), [[], [], [], []]);
  await share('eve', 'READ', greeter);
  await share('WORLD', 'READ', greeter);
  const workers = (await found(`/${greeter}/workers`)).map(() => greeter);
  assert.deepEqual(await seen(), [[greeter], [greeter, greeter], [greeter, greeter], workers]);
  await share('WORLD', 'READ', failer);
  assert.deepEqual((await seen())[0], [failer, greeter]);
  assert.deepEqual((await seen())[1], [failer, greeter, greeter]);
  assert.deepEqual(await names('name.like=greet', eve), ['Greeter']);
  const first = await eve.call('GET', '/search/executions?limit=1');
  const next = /\/actors\/v2(\/[^>]*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  assert.equal((await found(next, eve)).search[0].actorId, greeter);
  const page = await eve.call('GET', '/search/actors?limit=1');
  const more = /\/actors\/v2(\/[^>]*)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  assert.deepEqual(
    (await found(more, eve)).search.map(({ id }: Json) => id),
    [greeter],
  );
  for (const user of ['eve', 'WORLD']) await share(user, 'NONE', greeter);
  await share('WORLD', 'NONE', failer);
  assert.deepEqual(await seen(), [[], [], [], []]);
});
