import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { PullFailed, type PullProgress } from '../../../src/engines/engine.ts';
import { freePort } from '../../harness/free-port.ts';
import { puller, type RunningRegistry, startRegistry } from '../../harness/registry.ts';
import { startRegistryGate } from '../../harness/registry-gate.ts';
import { until } from '../../harness/until.ts';
import { run, type Subject } from './subject.ts';

export function testImages(get: () => Subject): void {
  describe('images', () => {
    let open: RunningRegistry;
    let closed: RunningRegistry;
    before(async () => {
      open = await startRegistry({ login: false });
      closed = await startRegistry({ login: true });
    });
    after(async () => {
      await open.stop();
      await closed.stop();
    });

    const failsWith = (reason: PullFailed['reason'], sentence: string) => (error: unknown) => {
      assert.ok(error instanceof PullFailed, String(error));
      assert.equal(error.message, sentence);
      assert.equal(error.reason, reason);
      return true;
    };

    test('an image is pulled with progress, and is then the one that runs', async () => {
      const { engine } = get();
      const reference = `${open.host}/things/first:1`;
      await get().pushAnother(reference);
      assert.equal(await engine.findImage(reference), undefined);
      const steps: PullProgress[] = [];
      const image = await engine.pull(reference, { onProgress: (step) => steps.push(step) });
      assert.match(image.id, /^sha256:[0-9a-f]{64}$/);
      assert.match(image.digest ?? '', /^sha256:[0-9a-f]{64}$/);
      assert.deepEqual(await engine.findImage(reference), image);
      const last = steps.at(-1);
      assert.ok(last && last.layers === 1 && last.layersDone === 1, JSON.stringify(last));
      assert.equal(last.bytesDone, last.bytes);
      assert.equal((await run(get(), 'echo hi', { image: reference })).stdout, 'hi\n');

      const pinned = `${open.host}/things/first@${image.digest}`;
      assert.deepEqual(await engine.pull(pinned), image);
      await get().forget(pinned);
      await get().forget(reference);
    });

    test('a name without a tag means latest', async () => {
      const { engine } = get();
      const name = `${open.host}/things/untagged`;
      await get().push(`${name}:latest`);
      const image = await engine.pull(name);
      assert.deepEqual(await engine.findImage(`${name}:latest`), image);
      await get().forget(`${name}:latest`);
    });

    test('a tag that has moved is followed by the next pull', async () => {
      const { engine } = get();
      const reference = `${open.host}/things/moving:latest`;
      await get().push(reference);
      const first = await engine.pull(reference);
      await get().pushAnother(reference);
      const second = await engine.pull(reference);
      assert.notEqual(second.id, first.id);
      assert.notEqual(second.digest, first.digest);
      assert.deepEqual(await engine.findImage(reference), second);
      await get().forget(`${open.host}/things/moving@${first.digest}`);
      await get().forget(reference);
    });

    test('a missing image, repository and registry are told in words', async () => {
      const { engine } = get();
      await get().push(`${open.host}/things/known:1`);
      const missing = `${open.host}/things/known:2`;
      await assert.rejects(
        engine.pull(missing),
        failsWith('not found', `image ${missing} was not found in registry ${open.host}`),
      );
      const unknown = `${open.host}/no/such/thing:1`;
      await assert.rejects(
        engine.pull(unknown),
        failsWith('not found', `image ${unknown} was not found in registry ${open.host}`),
      );
      const nobody = `127.0.0.1:${await freePort()}`;
      await assert.rejects(
        engine.pull(`${nobody}/x:1`),
        failsWith('unreachable', `registry ${nobody} cannot be reached (connection refused)`),
      );
    });

    test('a host that does not exist is told in words', async () => {
      await assert.rejects(
        get().engine.pull('registry.invalid/x:1'),
        (error) =>
          error instanceof PullFailed &&
          error.reason === 'unreachable' &&
          error.message.startsWith('registry registry.invalid cannot be reached ('),
      );
    });

    test('what is not a reference is refused before anybody is asked', async () => {
      for (const text of [
        '',
        'Big Letters',
        'a//b',
        'x:',
        'x@sha256:12',
        'http://x/y',
        'UPPER/x',
      ]) {
        await assert.rejects(
          get().engine.pull(text),
          failsWith('invalid reference', `${text} is not a valid image reference`),
        );
      }
    });

    test('a registry that asks for a login says so, takes the right one and refuses a wrong one', async () => {
      const { engine } = get();
      const reference = `${closed.host}/private/thing:1`;
      await get().push(reference, puller);
      await assert.rejects(
        engine.pull(reference),
        failsWith(
          'refused',
          `registry ${closed.host} refuses the pull: log in with registry credentials`,
        ),
      );
      await assert.rejects(
        engine.pull(reference, { credentials: { username: 'puller', password: 'guess' } }),
        failsWith(
          'refused',
          `registry ${closed.host} refuses the pull: these registry credentials are not valid for ${closed.host}/private/thing`,
        ),
      );
      const image = await engine.pull(reference, { credentials: puller });
      assert.deepEqual(await engine.findImage(reference), image);
      await get().forget(reference);
    });

    test('callers of one image share one pull, and one who gives up does not end it for the others', async (t) => {
      const { engine } = get();
      const gate = await startRegistryGate(open.host);
      t.after(gate.close);
      const reference = `${gate.host}/things/shared:1`;
      await get().push(reference);
      const asked = gate.manifests();
      gate.shut();
      const stop = new AbortController();
      const given = engine.pull(reference, { signal: stop.signal });
      const others = [engine.pull(reference), engine.pull(reference)];
      await until('the pull to reach the registry', () => gate.manifests() > asked);
      stop.abort();
      await assert.rejects(given, failsWith('given up', `the pull of ${reference} was given up`));
      gate.open();
      const [first, second] = await Promise.all(others);
      assert.deepEqual(first, second);
      assert.equal(gate.manifests(), asked + 1);
      await get().forget(reference);
    });

    test('a pull that everybody has given up ends, and a new one works', async (t) => {
      const { engine } = get();
      const gate = await startRegistryGate(open.host);
      t.after(gate.close);
      const reference = `${gate.host}/things/dropped:1`;
      await get().push(reference);
      const asked = gate.manifests();
      gate.shut();
      const stop = new AbortController();
      const given = assert.rejects(engine.pull(reference, { signal: stop.signal }), PullFailed);
      await until('the pull to reach the registry', () => gate.manifests() > asked);
      stop.abort();
      await given;
      gate.open();
      await engine.pull(reference);
      await get().forget(reference);
    });
  });
}
