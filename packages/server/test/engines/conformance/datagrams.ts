import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Engine } from '../../../src/engines/engine.ts';
import { until } from '../../harness/until.ts';
import { run, type SpecChange, type Subject, specOf, startUntil } from './subject.ts';

/** The tool that every such image has and that sends a datagram: it writes to the system's log. */
const socket = '/dev/log';
const datagrams = { paths: [socket, '/other.sock'], environment: { SOCKET: socket } };
const gathered = async (engine: Engine, id: string): Promise<readonly string[]> => {
  const sent = await engine.sent(id);
  assert.ok(sent);
  await sent.complete();
  const texts: string[] = [];
  for await (const { bytes } of sent.read(0)) texts.push(Buffer.from(bytes).toString());
  return texts.map((text) => text.replace(/^.*say: /s, '').trim());
};

export function testDatagrams(get: () => Subject): void {
  describe('datagrams', () => {
    const change: SpecChange = { datagrams };

    test('what a container sends is there when it has ended, in order, and it is told where to send', async () => {
      const script = 'for i in 1 2 3; do logger -t say $i; done; echo $SOCKET; test -S /other.sock';
      await run(get(), script, change, async ({ id, stdout, end }) => {
        assert.equal(end.exitCode, 0);
        assert.equal(stdout.trim(), socket);
        assert.deepEqual(await gathered(get().engine, id), ['1', '2', '3']);
      });
    });

    test('a container that asked for no socket has none, and nothing of an earlier one is found', async () => {
      await run(
        get(),
        'echo "[$SOCKET]"; test ! -e /other.sock',
        {},
        async ({ id, stdout, end }) => {
          assert.equal(end.exitCode, 0);
          assert.equal(stdout.trim(), '[]');
          assert.deepEqual(await gathered(get().engine, id), []);
        },
      );
    });

    test('news are told while it runs, and reading goes on from a place', async () => {
      const { engine } = get();
      const script = 'echo up; for i in $(seq 300); do logger -t say $i; sleep 0.1; done';
      const { id, output } = await startUntil(engine, specOf(get(), script, change), 'up');
      try {
        const sent = await engine.sent(id);
        assert.ok(sent);
        let told = 0;
        const forget = sent.onMore(() => {
          told += 1;
        });
        await until('news', () => told > 0);
        forget();
        const places: number[] = [];
        for await (const { next } of sent.read(0)) places.push(next);
        assert.ok(places.length > 0);
        const rest = [];
        for await (const { next } of sent.read(places[0] ?? 0)) rest.push(next);
        assert.deepEqual(rest.slice(0, places.length - 1), places.slice(1));
      } finally {
        output.close();
        await engine.remove(id);
      }
    });

    test('another driver, as after a kill, finds what was sent', async () => {
      const subject = get();
      const script = 'logger -t say kept; echo up; sleep 600';
      const { id, output } = await startUntil(
        subject.engine,
        specOf(subject, script, change),
        'up',
      );
      output.close();
      const again = subject.again();
      try {
        await until('it to be there', async () => (await gathered(again, id)).includes('kept'));
      } finally {
        await again.close();
        await subject.engine.remove(id);
      }
    });
  });
}
