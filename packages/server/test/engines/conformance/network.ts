import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { until } from '../../harness/until.ts';
import { run, type Subject, specOf, startUntil } from './subject.ts';

export function testNetwork(get: () => Subject): void {
  describe('network', () => {
    test('a container reaches this machine by the name host.docker.internal, at the address that is told', async (t) => {
      const address = await get().engine.gatewayAddress();
      assert.ok(address, 'the engine is on this machine');
      const server = createServer((socket) => socket.end('hello from the service'));
      t.after(() => server.close());
      server.listen(0, address);
      await once(server, 'listening');
      const listening = server.address();
      assert.ok(listening !== null && typeof listening === 'object');
      const script = `set -- $(getent ahostsv4 host.docker.internal); echo $1; nc $1 ${listening.port} < /dev/null`;
      const { stdout } = await run(get(), script);
      assert.equal(stdout, `${address}\nhello from the service`);
    });

    test('a container has no way to another one', async () => {
      const { engine } = get();
      const serve = specOf(get(), 'getent ahostsv4 reactor; nc -ll -p 7000 -e echo heard', {
        group: 'one',
      });
      const { id } = await engine.create(serve);
      const output = await engine.attach(id);
      await engine.start(id);
      const first = await output[Symbol.asyncIterator]().next();
      const address = Buffer.from(first.value?.bytes ?? [])
        .toString()
        .split(' ', 1)[0];
      assert.ok(address);
      assert.match(address, /^\d+\.\d+\.\d+\.\d+$/);
      assert.equal(await hear(address, 7000), 'heard\n', 'this machine reaches it');
      const { stdout, end } = await run(get(), `nc -w 2 ${address} 7000 < /dev/null`, {
        group: 'two',
      });
      assert.equal(stdout, '');
      assert.notEqual(end.exitCode, 0);
      await engine.remove(id);
    });

    test('what went over the network is counted to the byte, and each container for itself', async (t) => {
      const { engine } = get();
      const address = await engine.gatewayAddress();
      const megabyte = Buffer.alloc(1_000_000);
      const server = createServer((socket) => socket.end(megabyte));
      t.after(() => server.close());
      server.listen(0, address);
      await once(server, 'listening');
      const listening = server.address();
      assert.ok(listening !== null && typeof listening === 'object');
      const script = `nc ${address} ${listening.port} < /dev/null | wc -c`;
      for (let i = 0; i < 3; i++) {
        await run(get(), script, {}, async ({ id, stdout }) => {
          assert.equal(Number(stdout), 1_000_000);
          const usage = await engine.usage(id);
          assert.ok(usage?.exact);
          // The rest are headers of packets, and acknowledgements.
          assert.ok(usage.io > 1_000_000 && usage.io < 1_200_000, `${usage.io} bytes`);
        });
      }
      await run(get(), 'true', {}, async ({ id }) => {
        const usage = await engine.usage(id);
        assert.ok(
          usage && usage.io < 20_000,
          `${usage?.io} bytes of a container that sent nothing`,
        );
      });
    });

    test('what a container used is known to a service that was killed meanwhile', async (t) => {
      const { engine } = get();
      const address = await engine.gatewayAddress();
      const server = createServer((socket) => socket.end(Buffer.alloc(500_000)));
      t.after(() => server.close());
      server.listen(0, address);
      await once(server, 'listening');
      const listening = server.address();
      assert.ok(listening !== null && typeof listening === 'object');
      const spec = specOf(
        get(),
        `i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; nc ${address} ${listening.port} < /dev/null > /dev/null; echo done; sleep 0.5`,
      );
      const { id } = await startUntil(engine, spec, 'done');
      const second = get().again();
      t.after(() => second.close());
      await second.ended(id);
      const usage = await second.usage(id);
      assert.ok(usage?.exact);
      assert.ok(usage.io > 500_000 && usage.io < 600_000, `${usage.io} bytes`);
      assert.ok(usage.cpu > 10_000_000);
      await second.remove(id);
      await engine.remove(id);
    });
  });
}

async function hear(host: string, port: number): Promise<string> {
  // It tells its address before it listens.
  return until('the other container to listen', async () => {
    try {
      let text = '';
      for await (const chunk of connect(port, host)) text += chunk;
      return text;
    } catch {
      return undefined;
    }
  });
}
