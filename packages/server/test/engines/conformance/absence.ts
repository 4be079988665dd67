import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Engine, EngineUnavailable } from '../../../src/engines/engine.ts';
import { collect, type Subject, specOf, startUntil } from './subject.ts';

export function testAbsence(get: () => Subject): void {
  describe('an engine that goes away', () => {
    test('every call says that the engine does not answer, and works again when it is back', async (t) => {
      const { engine, cut, restore } = await get().behindProxy();
      t.after(() => engine.close());
      const { id } = await engine.create(specOf(get(), 'echo hi'));
      const calls: Record<string, (engine: Engine) => Promise<unknown>> = {
        ping: (one) => one.ping(),
        prepare: (one) => one.prepare(),
        gatewayAddress: (one) => one.gatewayAddress(),
        pull: (one) => one.pull('127.0.0.1:1/x:1'),
        findImage: (one) => one.findImage(get().image),
        create: (one) => one.create(specOf(get(), 'true')),
        spare: (one) => one.spare(specOf(get(), 'true')),
        begun: (one) => one.begun(id),
        handOver: (one) => one.handOver(id, []),
        attach: (one) => one.attach(id),
        replay: (one) => one.replay(id),
        start: (one) => one.start(id),
        stop: (one) => one.stop(id, 1),
        remove: (one) => one.remove(id),
        list: (one) => one.list({}),
        tidy: (one) => one.tidy(),
        removeLeftovers: (one) => one.removeLeftovers({ nothing: 'has this' }),
      };
      await cut();
      for (const [name, call] of Object.entries(calls)) {
        await assert.rejects(
          call(engine),
          (error) => error instanceof EngineUnavailable && /does not answer/.test(error.message),
          name,
        );
      }
      await restore();
      assert.match(await engine.ping(), /^(Docker|Podman) /);
      const written = collect(await engine.attach(id));
      await engine.start(id);
      assert.equal((await written).stdout.toString(), 'hi\n');
      assert.equal((await engine.ended(id)).exitCode, 0);
      assert.ok((await engine.list({})).some((one) => one.id === id));
      await engine.remove(id);
    });

    test('an output that breaks off says so, and a replay has all of it', async (t) => {
      const { engine, cut, restore } = await get().behindProxy();
      t.after(() => engine.close());
      const script = 'seq 1 100; echo half; while [ ! -e /go ]; do sleep 0.05; done; seq 1 100';
      const { id, output } = await startUntil(engine, specOf(get(), script), 'half');
      const rest = assert.rejects(collect(output), EngineUnavailable);
      const ended = engine.ended(id);
      await cut();
      // The container runs on meanwhile.
      await get().engine.handOver(id, [{ path: '/go', mode: 0o644, content: Buffer.from('') }]);
      await get().engine.ended(id);
      await restore();
      await rest;
      assert.equal((await ended).exitCode, 0);
      const numbers = Array.from({ length: 100 }, (_, at) => `${at + 1}\n`).join('');
      const replayed = await collect(await engine.replay(id));
      assert.equal(replayed.stdout.toString(), `${numbers}half\n${numbers}`);
      await engine.remove(id);
    });

    test('who waits for an end waits on, and hears of it when the engine is back', async (t) => {
      const { engine, cut, restore } = await get().behindProxy();
      t.after(() => engine.close());
      const spec = specOf(get(), 'echo up; while [ ! -e /go ]; do sleep 0.05; done; exit 9');
      const { id, output } = await startUntil(engine, spec, 'up');
      output.close();
      const ended = engine.ended(id);
      for (let i = 0; i < 3; i++) {
        await cut();
        await restore();
      }
      await engine.handOver(id, [{ path: '/go', mode: 0o644, content: Buffer.from('') }]);
      assert.equal((await ended).exitCode, 9);
      await engine.remove(id);
    });

    test('a container is not made twice when the answer about it was lost', async (t) => {
      const { engine, cut, restore } = await get().behindProxy();
      t.after(() => engine.close());
      const spec = specOf(get(), 'echo once');
      await engine.prepare();
      const lost = assert.rejects(engine.create(spec), EngineUnavailable);
      await cut();
      await lost;
      await restore();
      const { id } = await engine.create(spec);
      const written = collect(await engine.attach(id));
      await engine.start(id);
      assert.equal((await written).stdout.toString(), 'once\n');
      await engine.remove(id);
    });
  });
}
