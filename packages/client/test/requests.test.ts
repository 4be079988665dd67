import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  ApiError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  InvalidReplyError,
  NotFoundError,
  nonce,
  ReactordClient,
  ReactordError,
  ServerError,
  TimeoutError,
  TooLargeError,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
  UnprocessableError,
  UnsupportedTypeError,
} from '../src/index.ts';
import {
  events,
  hangUp,
  json,
  ok,
  openScriptedService,
  refuse,
  type ScriptedService,
  silence,
} from './harness/scripted-service.ts';

describe('requests', () => {
  let service: ScriptedService;
  let client: ReactordClient;
  before(async () => {
    service = await openScriptedService();
    client = new ReactordClient({
      baseUrl: `${service.url}/`,
      auth: 'token',
      retry: { firstPauseMs: 2 },
    });
  });
  after(() => service.close());

  const posted = { executionId: 'e', msg: 'm', _links: { self: '', owner: '', messages: '' } };

  describe('are sent again', () => {
    test('when reading fails in a way that passes', async () => {
      for (const failure of [hangUp, refuse(502), refuse(503), refuse(504), refuse(429)]) {
        service.script(failure, failure, ok({ uptime: 1 }));
        assert.deepEqual(await client.service.health(), { uptime: 1 });
        assert.equal(service.asked.length, 3);
      }
    });

    test('when a reply breaks off in the middle', async () => {
      service.script(
        (reply) => {
          reply.writeHead(200, { 'content-length': '1000' });
          reply.write('{"status":', () => reply.destroy());
        },
        ok({ uptime: 2 }),
      );
      assert.deepEqual(await client.service.health(), { uptime: 2 });
    });

    test('for messages, with the same key each time', async () => {
      service.script(hangUp, refuse(503), ok(posted));
      await client.reactors.send('r', 'hello');
      const keys = service.asked.map(({ headers }) => headers['idempotency-key']);
      assert.equal(keys.length, 3);
      assert.equal(new Set(keys).size, 1);
      assert.match(String(keys[0]), /^[\w-]{43}$/);
      assert.deepEqual(
        service.asked.map(({ body }) => body),
        ['hello', 'hello', 'hello'],
      );
    });

    test('for messages whose sender waits long, in pieces', async () => {
      const answered = (reply: import('node:http').ServerResponse) => {
        const headers = { 'x-execution-id': 'e', 'x-execution-status': 'COMPLETE' };
        reply.writeHead(200, { 'content-type': 'text/plain', 'x-exit-code': '0', ...headers });
        reply.end('done');
      };
      service.script(ok(posted, {}, 201), ok(posted, {}, 201), answered);
      const answer = await client.reactors.send('r', 'hello', { wait: 500 });
      assert.deepEqual([answer.answered, answer.log], [true, 'done']);
      assert.deepEqual(
        service.asked.map(({ url }) => url.split('=')[1]),
        ['240', '240', '20'],
      );
      assert.equal(new Set(service.asked.map(({ headers }) => headers['idempotency-key'])).size, 1);
    });

    test('never where it could do twice what was asked once', async () => {
      const unsafe: readonly (() => Promise<unknown>)[] = [
        () => client.reactors.create({ image: 'hello:1' }),
        () => client.reactors.send('r', 'hello', { idempotencyKey: false }),
        () => client.states.set('r', {}),
        () => client.results.take('r'),
        () => client.reactors.send('r', new Blob(['hello']).stream()),
      ];
      for (const call of unsafe) {
        service.script(refuse(503));
        await assert.rejects(call, UnavailableError);
        service.script(hangUp);
        await assert.rejects(call, ConnectionError);
        assert.equal(service.asked.length, 1, String(call));
      }
    });

    test('after what was refused at the door, whatever it is', async () => {
      service.script(refuse(429), ok({ id: 'r' }));
      await client.reactors.create({ image: 'hello:1' });
      assert.equal(service.asked.length, 2);
    });

    test('not before Retry-After says so, in seconds or as a date', async () => {
      service.script(refuse(503, { 'retry-after': '1' }), ok({ uptime: 1 }));
      await client.service.health();
      const waited = () => (service.asked[1]?.at ?? 0) - (service.asked[0]?.at ?? 0);
      assert.ok(waited() >= 995, `${waited()} ms`);
      // A date has whole seconds.
      const date = new Date(Math.ceil((Date.now() + 400) / 1000) * 1000);
      service.script(refuse(429, { 'retry-after': date.toUTCString() }), ok({ uptime: 1 }));
      await client.service.health();
      assert.ok((service.asked[1]?.at ?? 0) >= date.getTime() - 5);
    });

    test('not when the service asks for more patience than there is', async () => {
      service.script(refuse(429, { 'retry-after': '3600' }));
      await assert.rejects(client.service.health(), (error) => {
        assert.ok(error instanceof TooManyRequestsError);
        assert.equal(error.retryAfter, 3600);
        return true;
      });
      assert.equal(service.asked.length, 1);
    });

    test('a bounded number of times, or never where that was said', async () => {
      service.script(refuse(503));
      await assert.rejects(client.service.health(), UnavailableError);
      assert.equal(service.asked.length, 5);
      const once = new ReactordClient({ baseUrl: service.url, retry: { retries: 0 } });
      service.script(refuse(503));
      await assert.rejects(once.service.health(), UnavailableError);
      assert.equal(service.asked.length, 1);
    });
  });

  describe('fail', () => {
    test('with a class for each kind of refusal', async () => {
      const kinds = [
        [400, BadRequestError, 'bad_request'],
        [401, UnauthorizedError, 'unauthorized'],
        [403, ForbiddenError, 'forbidden'],
        [404, NotFoundError, 'not_found'],
        [405, ApiError, 'refused'],
        [409, ConflictError, 'conflict'],
        [413, TooLargeError, 'too_large'],
        [415, UnsupportedTypeError, 'unsupported_type'],
        [422, UnprocessableError, 'unprocessable'],
        [500, ServerError, 'server_error'],
      ] as const;
      for (const [status, Kind, code] of kinds) {
        service.script(refuse(status, { 'x-request-id': 'q1' }, 'image: is missing'));
        await assert.rejects(client.reactors.create({ image: '' }), (error) => {
          assert.ok(error instanceof Kind && error instanceof ApiError);
          assert.ok(error instanceof ReactordError && error instanceof Error);
          assert.deepEqual([error.status, error.code, error.requestId], [status, code, 'q1']);
          assert.equal(error.message, 'image: is missing');
          assert.equal(error.name, Kind.name);
          assert.equal(error.request, 'POST /actors/v2');
          return true;
        });
        assert.equal(service.asked.length, 1);
      }
    });

    test('by name when something else answers at the address', async () => {
      const page = (reply: import('node:http').ServerResponse) => reply.end('<h1>It works</h1>');
      service.script(page);
      await assert.rejects(client.service.health(), InvalidReplyError);
      service.script((reply) => {
        reply.statusCode = 404;
        page(reply);
      });
      await assert.rejects(client.reactors.get('r'), {
        name: 'NotFoundError',
        message: 'GET /actors/v2/r was answered with the status 404.',
      });
    });

    test('when nobody listens, with the address', async () => {
      const gone = await openScriptedService();
      await gone.close();
      const lost = new ReactordClient({
        baseUrl: gone.url,
        retry: { retries: 1, firstPauseMs: 1 },
      });
      await assert.rejects(lost.service.health(), (error) => {
        assert.ok(error instanceof ConnectionError);
        assert.match(error.message, new RegExp(`^Cannot reach ${gone.url}: .*ECONNREFUSED`));
        return true;
      });
    });

    test('when the time is over', async () => {
      service.script(silence);
      const hasty = new ReactordClient({
        baseUrl: service.url,
        timeoutMs: 30,
        retry: { retries: 0 },
      });
      await assert.rejects(hasty.service.health(), TimeoutError);
      await assert.rejects(client.states.set('r', 1, { timeoutMs: 20 }), TimeoutError);
      // What asks the service to wait is given that time too.
      service.script(
        (reply) => void setTimeout(() => ok(posted)(reply, { ...first(), body: '' }), 80),
      );
      await hasty.reactors.send('r', 'm', { wait: 1 });
    });

    test('with the reason of the signal, while it is on its way and while it waits to be sent again', async () => {
      const reason = new Error('the user left');
      for (const answer of [silence, refuse(503, { 'retry-after': '20' })]) {
        service.script(answer);
        const left = new AbortController();
        const call = client.service.health({ signal: left.signal });
        setTimeout(() => left.abort(reason), 50);
        await assert.rejects(call, (error) => error === reason);
      }
      service.script(ok({}));
      await assert.rejects(
        client.service.health({ signal: AbortSignal.abort(reason) }),
        (error) => error === reason,
      );
    });

    test('before anything is sent when a name is empty or the address is none', async () => {
      service.script(ok({}));
      for (const id of ['', '.', '..'])
        await assert.rejects(client.reactors.get(id), /reactorId: takes a name/);
      assert.equal(service.asked.length, 0);
      assert.throws(() => new ReactordClient({ baseUrl: 'reactors.example.org' }), /baseUrl/);
    });

    test('rather than follow a redirect with something to send', async () => {
      service.script((reply) => {
        reply.writeHead(301, { location: '/elsewhere' });
        reply.end();
      });
      await assert.rejects(client.reactors.create({ image: 'x' }), ConnectionError);
      assert.equal(service.asked.length, 1);
    });
  });

  test('carry names as they are, the query, and who calls', async () => {
    service.script(ok({}));
    await client.configs.get('a/b c?d');
    assert.equal(service.asked[0]?.url, '/actors/v2/configs/a%2Fb%20c%3Fd');
    assert.equal(service.asked[0]?.headers.authorization, 'Bearer token');
    service.script(ok(posted));
    await client.as(nonce('n+1')).reactors.send(
      'r',
      { a: 1 },
      {
        environment: { A: 'x y', B: 2 },
        delay: 5,
        idempotencyKey: 'mine',
      },
    );
    assert.equal(service.asked[0]?.url, '/actors/v2/r/messages?A=x+y&B=2&delay=5&x-nonce=n%2B1');
    assert.equal(service.asked[0]?.headers.authorization, undefined);
    assert.equal(service.asked[0]?.headers['idempotency-key'], 'mine');
    assert.equal(service.asked[0]?.body, '{"a":1}');
  });

  describe('for lists', () => {
    test('go on with what the Link header says, at our own address', async () => {
      const next = '<https://elsewhere.example.org/actors/v2?limit=2&cursor=c%2F1>; rel="next"';
      service.script(ok([{ id: 1 }, { id: 2 }], { link: next }), ok([{ id: 3 }]));
      const ids: unknown[] = [];
      for await (const { id } of client.reactors.list({ limit: 2 })) ids.push(id);
      assert.deepEqual(ids, [1, 2, 3]);
      assert.deepEqual(
        service.asked.map(({ url }) => url),
        ['/actors/v2?limit=2', '/actors/v2?limit=2&cursor=c%2F1'],
      );
    });

    test('ask for no more than is read', async () => {
      service.script(ok([{ id: 1 }, { id: 2 }], { link: '<x?cursor=1>; rel="next"' }));
      assert.equal((await client.reactors.list().toArray(2)).length, 2);
      assert.equal((await client.reactors.list().toArray(0)).length, 0);
      assert.equal(service.asked.length, 1);
    });

    test('without that header go on behind the last entry', async () => {
      service.script(json([{ name: 'a' }, { name: 'b' }]), json([{ name: 'c' }]));
      assert.equal((await client.clients.list({ limit: 2, offset: 1 }).toArray()).length, 3);
      assert.deepEqual(
        service.asked.map(({ url }) => url),
        ['/clients/v2?limit=2&offset=1', '/clients/v2?limit=2&after=b'],
      );
      service.script(ok([{}, {}]), ok([{}]));
      await client.aliases.list({ limit: 2 }).toArray();
      assert.equal(service.asked[1]?.url, '/actors/v2/aliases?limit=2&offset=2');
    });
  });

  describe('for streams', () => {
    const line = (id: number, text: string) =>
      `event: log\nid: ${id}\ndata: ${JSON.stringify({ stream: 'stdout', time: '', text })}\n\n`;
    const texts = async (log: AsyncIterable<{ readonly text: string }>) => {
      const read: string[] = [];
      for await (const { text } of log) read.push(text);
      return read;
    };
    const end = 'event: end\ndata: {"status":"COMPLETE","exitCode":3}\n\n';

    test('go on behind the last event when the connection breaks or ends early', async () => {
      service.script(
        events(
          `retry: 10\n\n${line(1, 'a\n')}${line(2, 'b\n')}${line(9, 'lost').slice(0, 20)}`,
          'break',
        ),
        refuse(503),
        events(': still here\n\n', 'end'),
        events(line(3, 'c\n') + end, 'end'),
      );
      const log = client.executions.followLogs('r', 'e', { tail: 5 });
      assert.deepEqual(await texts(log), ['a\n', 'b\n', 'c\n']);
      assert.deepEqual(log.end, { status: 'COMPLETE', exitCode: 3 });
      assert.deepEqual(
        service.asked.map(({ headers }) => headers['last-event-id']),
        [undefined, '2', '2', '2'],
      );
    });

    test('end with a refusal, and with the signal', async () => {
      service.script(events(`retry: 10\n\n${line(1, 'a\n')}`, 'end'), refuse(404));
      const log = client.executions.followLogs('r', 'e');
      await assert.rejects(texts(log), NotFoundError);
      service.script((reply) => {
        reply.writeHead(200, { 'content-type': 'text/event-stream' });
        reply.write('id: 7\ndata: {"event_type":"ACTOR_READY"}\n\n');
      });
      const left = new AbortController();
      const seen: string[] = [];
      const reading = (async () => {
        for await (const { id, event_type } of client.events.follow({ signal: left.signal })) {
          seen.push(`${id} ${event_type}`);
          left.abort();
        }
      })();
      await assert.rejects(reading, { name: 'AbortError' });
      assert.deepEqual(seen, ['7 ACTOR_READY']);
    });

    test('are left when the reader leaves', async () => {
      const closed = Promise.withResolvers<void>();
      service.script((reply) => {
        reply.once('close', closed.resolve);
        reply.writeHead(200, { 'content-type': 'text/event-stream' });
        reply.write(line(1, 'a\n'));
      });
      for await (const _ of client.executions.followLogs('r', 'e')) break;
      await closed.promise;
    });
  });

  const first = () => {
    const [asked] = service.asked;
    assert.ok(asked);
    return asked;
  };
});
