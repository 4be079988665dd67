import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openScene, type Scene } from '../../server/test/harness/execution-scene.ts';
import { openImageRegistry } from '../../server/test/harness/image-registry.ts';
import { until } from '../../server/test/harness/until.ts';
import { Person } from './harness/command.ts';

/** Says what it was sent, in both streams, gives a result where asked, and ends as asked. */
const program = `
  echo "got $MSG as $_svc_Content_Type"; echo warned >&2
  [ -n "$HOLD" ] && sleep "$HOLD"
  exit "\${CODE:-0}"`;

/** Posts a result with the execution's own token. */
const giveResult = `
  port="\${_svc_api_server##*:}"
  ip=$(awk '/host.docker.internal/ { print $1; exit }' /etc/hosts)
  printf 'POST /actors/v2/%s/executions/%s/results HTTP/1.0\\r\\nAuthorization: Bearer %s\\r\\nContent-Type: application/octet-stream\\r\\nContent-Length: 5\\r\\n\\r\\nfirst' \
    "$_svc_actor_id" "$_svc_execution_id" "$_svc_access_token" | nc "$ip" "$port"`;

describe('the command line', () => {
  let scene: Scene;
  const person = new Person();
  let id = '';
  before(async () => {
    scene = await openScene();
    person.environment = { REACTORD_SERVER: scene.service.url, REACTORD_TOKEN: scene.admin.token };
    const made = await person.run([
      ...['reactors', 'create', scene.image.reference, '--name', 'echo', '--alias', 'parrot'],
      ...['--env', `RUN=${program}`, '--env', 'CODE=0', '--max-workers', '4', '--timeout', '5m'],
    ]);
    assert.equal(made.code, 0, made.stderr);
    // In a pipe there is the id, and nothing beside it.
    assert.match(made.stdout, /^\w{14}\n$/);
    id = made.stdout.trim();
  });
  after(async () => {
    person[Symbol.dispose]();
    await scene.dispose();
  });

  const well = async (...words: string[]) => {
    const said = await person.run(words);
    assert.equal(said.code, 0, said.stderr);
    return said;
  };

  test('shows reactors as lines with tabs in a pipe, and as JSON', async () => {
    const [line] = (await well('reactors')).stdout.split('\n');
    assert.deepEqual(line?.split('\t').slice(0, 3), [id, 'echo', 'READY']);
    const [listed] = (await well('reactors', 'list', '--json')).json();
    assert.equal(listed.id, id);
    assert.equal((await well('reactors', 'show', 'echo', '--json')).json().timeout, 300);
  });

  test('a table and colours on a terminal, and none of them with NO_COLOR', async () => {
    const shown = await person.onTerminal('reactors');
    const colour = '\u001b';
    assert.match(shown.stdout, new RegExp(`${colour}\\[2mID`));
    assert.match(shown.stdout, new RegExp(`${colour}\\[32mREADY`));
    person.environment = { ...person.environment, NO_COLOR: '1' };
    const bare = await person.onTerminal('reactors');
    person.environment = { ...person.environment, NO_COLOR: '' };
    assert.ok(!bare.stdout.includes(colour), bare.stdout);
    assert.match(bare.stdout, /^ID +NAME +STATUS +IMAGE +OWNER +MADE\n/);
  });

  test('sends words, JSON, a file and standard input', async () => {
    const folder = person.config;
    writeFileSync(join(folder, 'm.json'), '{"n": 1}');
    writeFileSync(join(folder, 'm.bin'), Buffer.from([0xff, 0x00, 0xfe]));
    const log = async (words: string[], input?: string) => {
      const said = await person.run(['send', 'parrot', '--wait', ...words], { input: input ?? '' });
      assert.equal(said.code, 0, said.stderr);
      return said.stdout;
    };
    assert.match(await log(['hello', 'there']), /got hello there as str/);
    assert.match(
      await log(['--as-json', '{"a": [1]}']),
      /got \{"a": ?\[1\]\} as application\/json/,
    );
    assert.match(await log(['--file', join(folder, 'm.json')]), /as application\/json/);
    assert.match(await log(['--file', join(folder, 'm.bin')]), /as application\/octet-stream/);
    assert.match(await log([], 'from a pipe'), /got from a pipe as str/);
  });

  test('ends as the container ended, and says so', async () => {
    const failed = await person.run(['send', id, '--wait', 'x', '--env', 'CODE=3', '--json']);
    assert.equal(failed.code, 8);
    assert.equal(failed.json().exitCode, 3);
    assert.equal(failed.stderr, 'reactord: The container exited with code 3.\n');
    const followed = await person.run(['send', id, '--follow', 'x', '--env', 'CODE=4']);
    assert.equal(followed.code, 8);
    assert.equal(followed.stdout, 'got x as str\n');
    assert.match(followed.stderr, /^warned$/m);
    const logs = await person.run(['logs', id]);
    assert.equal(logs.code, 0);
    assert.match(logs.stdout, /got x as str/);
    assert.equal((await person.run(['logs', id, '-f', '--json'])).code, 8);
  });

  test('waits no longer than told, and leaves what runs alone', async () => {
    const words = ['send', id, '--wait', '--within', '1s', 'x', '--env', 'HOLD=60'];
    const said = await person.run(words);
    assert.equal(said.code, 10, said.stderr);
    const [running] = (await well('executions', id, '--json')).json();
    assert.equal(running.status, 'RUNNING');
    const following = person.start(['logs', '-f', id, running.id]);
    await until('the first line', () => following.errors().includes('warned'));
    following.signal('SIGINT');
    const left = await following.ended;
    assert.equal(left.code, 130);
    assert.match(left.stderr, /It goes on\. Follow it again: reactord logs -f/);
    await well('executions', 'halt', id, running.id);
    await until(
      'the end',
      async () => (await well('executions', 'show', id, running.id, '--json')).json().finishTime,
    );
  });

  test('sends a file of many messages, and says where it is wrong', async () => {
    const path = join(person.config, 'many.ndjson');
    writeFileSync(path, Array.from({ length: 620 }, (_, at) => `{"n":${at}}\n`).join(''));
    await well(
      'reactors',
      'create',
      scene.image.reference,
      '--name',
      'sink',
      '--env',
      'RUN=true',
      '--no-wait',
    );
    const sent = await well('send', 'sink', '--batch', path, '--key', 'k', '--json');
    const { executionIds } = sent.json();
    assert.equal(new Set(executionIds).size, 620);
    // The same key again sends nothing again.
    const again = await well('send', 'sink', '--batch', path, '--key', 'k');
    assert.deepEqual(again.stdout.trim().split('\n'), executionIds);
    writeFileSync(path, '{"n":1}\n{"n":\n');
    const wrong = await person.run(['send', 'sink', '--batch', path]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /Line 2 of .*many\.ndjson is not JSON/);
    const shown = await person.onTerminal(`send sink --batch ${path}.no`);
    assert.equal(shown.code, 2);
    await well('reactors', 'rm', 'sink');
  });

  test('changes what is named and leaves the rest', async () => {
    await well(
      'reactors',
      'update',
      'echo',
      '--description',
      'a parrot',
      '--env',
      'X=1',
      '--set',
      'retries=2',
    );
    const reactor = (await well('reactors', 'show', id, '--json')).json();
    assert.deepEqual(
      [reactor.description, reactor.timeout, reactor.maxWorkers, reactor.retries],
      ['a parrot', 300, 4, 2],
    );
    assert.deepEqual(Object.keys(reactor.defaultEnvironment).sort(), ['CODE', 'RUN', 'X']);
    await well('reactors', 'update', 'echo', '--unset', 'retries', '--unset-env', 'X');
    const back = (await well('reactors', 'show', id, '--json')).json();
    assert.deepEqual([back.retries, 'X' in back.defaultEnvironment], [0, false]);
    await well('schedule', 'set', 'echo', '0 3 * * *');
    assert.equal((await well('schedule', 'echo', '--json')).json().on, true);
    await well('schedule', 'rm', 'echo');
  });

  test('shares, by permission, nonce and alias', async () => {
    await scene.user('ada');
    await well('reactors', 'share', 'echo', 'ada', 'read');
    assert.equal((await well('reactors', 'share', 'echo', '--json')).json().ada, 'READ');
    const address = (
      await well('reactors', 'nonce', 'create', 'echo', '--uses', '1')
    ).stdout.trim();
    assert.equal((await fetch(address, { method: 'POST', body: 'x' })).status, 201);
    assert.equal((await fetch(address, { method: 'POST', body: 'x' })).status, 401);
    await well('reactors', 'alias', 'rm', 'parrot');
    assert.equal((await person.run(['reactors', 'show', 'parrot'])).code, 4);
  });

  test('keeps state, gives results, tells events and delivers configs', async () => {
    const run = giveResult;
    const made = await well(
      'reactors',
      'create',
      scene.image.reference,
      '--stateful',
      '--env',
      `RUN=${run}`,
    );
    const stateful = made.stdout.trim();
    await well('state', 'set', stateful, '{"n": 1}');
    const { state, etag } = (await well('state', stateful, '--json')).json();
    assert.deepEqual(state, { n: 1 });
    await well('state', 'set', stateful, '{"n": 2}', '--if-match', etag);
    assert.equal((await person.run(['state', 'set', stateful, '3', '--if-match', etag])).code, 6);
    const set = await person.run(['configs', 'set', 'COLOUR', '--secret', '--for', stateful], {
      input: 'blue\n',
    });
    assert.equal(set.code, 0, set.stderr);
    assert.equal((await well('configs', 'show', 'COLOUR', '--json')).json().value, null);
    // Whoever waits is given the first result.
    assert.equal((await well('send', stateful, '--wait', 'x')).stdout, 'first');
    await well('send', stateful, '--follow', 'x');
    assert.equal((await well('results', stateful, '--keep', '--json')).json().text, 'first');
    assert.equal((await well('results', stateful)).stdout, 'first');
    assert.equal((await well('results', stateful)).stdout, '');
    const events = await well('events', '--past', '--reactor', stateful, '-n', '2', '--json');
    const types = events.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event_type);
    assert.deepEqual(types, ['ACTOR_READY', 'EXECUTION_STARTED']);
  });

  test('shows on a terminal how far an image is', async (t) => {
    const registry = await openImageRegistry();
    t.after(() => registry.close());
    await registry.push('slow', '1', 'x'.repeat(100_000));
    const layers = registry.hold();
    const creating = person.startOnTerminal(`reactors create ${registry.host}/slow:1`);
    await until('the bar', () =>
      / {3}0%.* Getting \S+\/slow:1: pulling: 0 of 1 layer/.test(creating.output()),
    );
    layers.release();
    const said = await creating.ended;
    assert.equal(said.code, 0, said.stdout);
    assert.match(said.stdout, /Registered .*READY/);
  });

  test('an image that cannot be had ends with its reason and what to do', async () => {
    const said = await person.run(['reactors', 'create', '127.0.0.1:1/none:1']);
    assert.equal(said.code, 9);
    assert.match(said.stderr, /127\.0\.0\.1:1.*\n {2}It is there as \w{14}\. Name another image:/);
    const broken = /It is there as (\w{14})/.exec(said.stderr)?.[1] ?? '';
    assert.equal((await person.run(['send', broken, '--wait', 'x'])).code, 9);
  });

  test('manages clients and users', async () => {
    const client = (await well('clients', 'create', 'web', '--json')).json();
    assert.match(client.secret, /^rct_cs_/);
    await well('clients', 'subscriptions', 'web', '--rm', 'Actors');
    const left = (await well('clients', 'subscriptions', 'web', '--json')).json();
    assert.deepEqual(
      left.map(({ name }: { name: string }) => name),
      ['Clients', 'Profiles'],
    );
    await well('clients', 'rm', 'web');
    const password = (await well('users', 'add', 'bob', '--generate')).stdout.trim();
    assert.match(password, /^(\w{5}-){3}\w{5}$/);
    await well('users', 'grant', 'bob', 'reactors');
    assert.deepEqual((await well('users', 'show', 'bob', '--json')).json().grants, ['reactors']);
    await well('users', 'rm', 'bob');
    assert.equal((await person.run(['users', 'show', 'bob'])).code, 4);
  });

  test('a wrong command line ends with 2, one sentence and where to look', async () => {
    for (const [words, sentence] of [
      [['sned'], /Unknown command 'sned'\n\(Did you mean send\?\)\n {2}See: reactord --help/],
      [['send'], /Missing required argument 'reactor'/],
      [['reactors', 'frob'], /Unknown command 'frob'/],
      [['send', 'echo', '--wiat', 'x'], /Unknown option '--wiat'\n\(Did you mean --wait\?\)/],
      [['send', 'echo'], /The message is empty/],
      [['reactors', 'create', 'x', '--timeout', 'soon'], /It takes seconds/],
    ] as const) {
      const said = await person.run(words);
      assert.equal(said.code, 2, said.stderr);
      assert.match(said.stderr, sentence);
      assert.equal(said.stdout, '');
    }
  });

  test('completes commands, options and the names of reactors', async () => {
    const complete = async (...words: string[]) =>
      (await well('complete', '--', ...words)).stdout
        .split('\n')
        .map((line) => line.split('\t')[0]);
    assert.deepEqual(await complete('reac'), ['reactors', '']);
    assert.ok((await complete('send', '--w')).includes('--wait'));
    assert.ok((await complete('send', 'ec')).includes('echo'));
    assert.ok((await complete('reactors', 'update', 'ec')).includes('echo'));
    for (const shell of ['bash', 'zsh', 'fish'])
      assert.match((await well('completion', shell)).stdout, /reactord complete/);
  });

  test('doctor asks the service and this machine', async () => {
    const words = [
      'doctor',
      '--json',
      '--data',
      scene.service.data,
      '--port',
      new URL(scene.service.url).port,
    ];
    const { ok, checks } = (await well(...words)).json();
    assert.equal(ok, true);
    const names = checks.map(({ check }: { check: string }) => check);
    for (const name of ['engine', 'store', 'port', 'clock']) assert.ok(names.includes(name), name);
    const away = await person.run(['doctor', '--remote', '--server', 'http://127.0.0.1:1']);
    assert.equal(away.code, 1);
    assert.match(away.stdout, /^wrong\treachable\t/);
  });

  test('becomes the service: its flags, its signals, its exit code', async () => {
    const data = join(person.config, 'data');
    const serving = person.start(['serve', '--port', '0', '--data', data, '--log-level', 'warn']);
    await until('the greeting', () => serving.output().includes('reactord is running at'));
    serving.signal('SIGTERM');
    assert.equal((await serving.ended).code, 0);
    const users = await well('users', '--local', 'list', '--json', '--data', data);
    assert.equal(users.json()[0].username, 'admin');
    const refused = await person.run(['serve', '--prt', '1']);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /did you mean --port/);
  });
});
