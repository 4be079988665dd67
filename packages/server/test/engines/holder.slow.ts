import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { holderProgram } from '../../src/engines/docker/holder-program.ts';
import { labelFilter, ownLabels } from '../../src/engines/docker/labels.ts';
import { Inspection, Listed, read } from '../../src/engines/docker/shapes.ts';
import { EngineUnavailable } from '../../src/engines/engine.ts';
import { newId } from '../../src/ids.ts';
import { startEngineProxy } from '../harness/engine-proxy.ts';
import { engineAddress, makeTestImage } from '../harness/images.ts';
import { testEngineSocket } from '../harness/run-image.ts';
import { until } from '../harness/until.ts';
import { specOf } from './conformance/subject.ts';

/** Another process of the same service, which keeps no holders ready. */
const engineOf = (owner: string, address: string | undefined = engineAddress): DockerEngine =>
  new DockerEngine({
    address,
    environment: process.env,
    owner,
    network: owner,
    holders: { ready: 0, idle: 2, idleMs: 300_000 },
  });

describe('network holders', () => {
  const open = async (
    t: { after(end: () => Promise<void>): void },
    limits = {},
    folder?: string,
  ) => {
    const owner = `reactord-test-${newId()}`;
    const client = new DockerClient(engineAddress, process.env);
    const image = await makeTestImage();
    const engine = new DockerEngine({
      address: engineAddress,
      environment: process.env,
      owner,
      network: owner,
      holders: { ready: 1, idle: 2, idleMs: 300_000, ...limits },
      ...(folder !== undefined && { spools: { folder, mostBytes: 1024 * 1024 } }),
    });
    t.after(async () => {
      await engine.removeLeftovers({});
      await engine.close();
      await image.remove();
      client.close();
    });
    const holders = async (): Promise<readonly { id: string; state: string }[]> => {
      const answer = await client.call('GET', '/containers/json', {
        query: { all: true, filters: labelFilter(ownLabels(owner, 'holder')) },
      });
      return read(Listed, answer, 'containers').map(({ Id, State }) => ({ id: Id, state: State }));
    };
    const placeOf = async (id: string): Promise<string> => {
      const list = read(
        Listed,
        await client.call('GET', '/containers/json', { query: { all: true } }),
        'containers',
      );
      return list.find((one) => one.Id === id)?.HostConfig?.NetworkMode ?? '';
    };
    const create = (group?: string) =>
      engine.create(specOf({ image: image.reference }, 'true', { group }));
    return { engine, client, owner, holders, placeOf, create, image: image.reference };
  };

  test('there is a program for both usual processors, and it is tiny', () => {
    for (const architecture of ['amd64', 'arm64']) {
      const program = holderProgram(architecture);
      assert.ok(program && program.length < 700);
      assert.equal(program.toString('latin1', 1, 4), 'ELF');
    }
    assert.equal(holderProgram('riscv64'), undefined);
  });

  test('a holder ends at once when it is asked to stop', async (t) => {
    const { engine, client, holders } = await open(t);
    await engine.prepare();
    const [holder] = await holders();
    assert.equal(holder?.state, 'running');
    // The engine calls a container running a moment before its program is loaded, and a signal in between is lost.
    const answer = await client.call('GET', `/containers/${holder.id}/json`);
    const pid = read(Inspection, answer, 'a container').State.Pid;
    await until('the program to look out for signals', () =>
      /^SigBlk:\t0*1004007$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')),
    );
    const began = Date.now();
    await client.call('POST', `/containers/${holder.id}/stop`, {
      query: { t: 60 },
      limitMs: 90_000,
    });
    assert.ok(Date.now() - began < 30_000);
  });

  test('one group uses one place again and again, one container at a time', async (t) => {
    const { engine, placeOf, create } = await open(t);
    const first = await create('a');
    const place = await placeOf(first.id);
    const meanwhile = await create('a');
    assert.notEqual(await placeOf(meanwhile.id), place);
    await engine.remove(meanwhile.id);
    await engine.remove(first.id);
    const next = await create('a');
    assert.equal(await placeOf(next.id), place);
  });

  test('another group, and a container of no group, never get a place that was used', async (t) => {
    const { engine, placeOf, create } = await open(t);
    const seen = new Set<string>();
    for (const group of ['a', 'b', undefined, undefined, 'c']) {
      const { id } = await create(group);
      const place = await placeOf(id);
      assert.match(place, /^container:/);
      assert.ok(!seen.has(place));
      seen.add(place);
      await engine.remove(id);
    }
  });

  test('no more wait than may, and those that wait too long are removed', async (t) => {
    const { engine, holders, create } = await open(t, { ready: 0, idleMs: 1_000 });
    const made = [await create('a'), await create('b'), await create('c'), await create('d')];
    assert.equal((await holders()).length, 4);
    for (const { id } of made) await engine.remove(id);
    assert.ok((await holders()).length <= 2);
    await until('the last to be removed', async () => (await holders()).length === 0);
  });

  test('one that somebody removed or killed is replaced without anybody noticing', async (t) => {
    const { engine, client, holders, create } = await open(t);
    await engine.remove((await create('a')).id);
    for (const { id } of await holders())
      await client.call('DELETE', `/containers/${id}`, { query: { force: true } });
    const { id } = await create('a');
    await engine.start(id);
    assert.equal((await engine.ended(id)).exitCode, 0);
  });

  test('a network that somebody removed is made again, with the address that somebody may listen at', async (t) => {
    const { engine, client, owner, create } = await open(t, { ready: 0 });
    const address = await engine.gatewayAddress();
    await client.call('DELETE', `/networks/${owner}`);
    const { id } = await create('a');
    await engine.start(id);
    assert.equal((await engine.ended(id)).exitCode, 0);
    assert.equal(await engine.gatewayAddress(), address);
  });

  test('without a folder for what they send, containers have no socket and are not told of one', async (t) => {
    const { engine, image } = await open(t);
    const datagrams = { paths: ['/sent.sock'], environment: { SOCKET: '/sent.sock' } };
    const script = 'test -z "$SOCKET" && test ! -e /sent.sock';
    const { id } = await engine.create(specOf({ image }, script, { datagrams }));
    await engine.start(id);
    assert.equal((await engine.ended(id)).exitCode, 0);
    assert.equal(await engine.sent(id), undefined);
  });

  test('one that ended before its container started gathers again, and its folder goes with it', async (t) => {
    // Longer than the address of a socket can be.
    const folder = join(mkdtempSync(join(tmpdir(), 'reactord-spools-')), 'x'.repeat(120));
    const { engine, client, image, holders } = await open(t, { ready: 0, idle: 0 }, folder);
    const datagrams = { paths: ['/dev/log'], environment: {} };
    const spec = specOf({ image }, 'logger -t say hello', { datagrams });
    const { id } = await engine.create(spec);
    for (const holder of await holders())
      await client.call('POST', `/containers/${holder.id}/kill`);
    await engine.start(id);
    assert.equal((await engine.ended(id)).exitCode, 0);
    const sent = await engine.sent(id);
    assert.ok(sent);
    await sent.complete();
    const texts: string[] = [];
    for await (const { bytes } of sent.read(0)) texts.push(Buffer.from(bytes).toString());
    assert.match(texts.join('\n'), /^[^\n]*say: hello\s*$/);
    assert.equal(readdirSync(folder).length, 1);
    await engine.remove(id);
    assert.deepEqual(readdirSync(folder), []);
    rmSync(dirname(folder), { recursive: true });
  });

  test('two services share the network, and the one that ends leaves it to the other', async (t) => {
    const { engine, owner, create } = await open(t);
    await engine.prepare();
    const other = new DockerEngine({
      address: engineAddress,
      environment: process.env,
      owner: `${owner}-other`,
      network: owner,
    });
    t.after(() => other.close());
    assert.equal(await other.gatewayAddress(), await engine.gatewayAddress());
    await other.prepare();
    await other.removeLeftovers({});
    const { id } = await create('a');
    await engine.start(id);
    assert.equal((await engine.ended(id)).exitCode, 0);
  });

  test('after a kill, those in use are known and the others are removed', async (t) => {
    const { engine, owner, holders, placeOf, create } = await open(t);
    await engine.prepare();
    const { id } = await create('a');
    const place = await placeOf(id);
    // The first process goes on living here: what it still makes must be made before the second one looks.
    await until('another one to be ready', async () => (await holders()).length === 2);
    const second = engineOf(owner);
    t.after(() => second.close());
    await second.tidy();
    await until('the others to be removed', async () => {
      const left = (await holders()).map((one) => `container:${one.id}`);
      return left.length === 1 && left[0] === place;
    });
    await second.start(id);
    assert.equal((await second.ended(id)).exitCode, 0);
    assert.equal((await second.usage(id))?.exact, true);
  });

  test('a container whose making was answered to nobody has its place for itself', async (t) => {
    const { owner, placeOf, image } = await open(t);
    const proxy = await startEngineProxy(testEngineSocket());
    const engine = engineOf(owner, proxy.address);
    t.after(async () => {
      await engine.close();
      await proxy.dispose();
    });
    const spec = specOf({ image }, 'true', { group: 'a' });
    proxy.loseAnswerTo(new RegExp(`^POST \\S*/containers/create\\?name=${spec.name}`));
    const create = () => engine.create(spec);
    const made = await create().catch((error: unknown) => {
      // Over a new connection; over one that was used before, the driver has asked again by itself.
      assert.ok(error instanceof EngineUnavailable);
      return create();
    });
    assert.equal(made.adopted, true);
    const place = await placeOf(made.id);
    assert.match(place, /^container:/);
    const meanwhile = await engine.create(specOf({ image }, 'true', { group: 'a' }));
    assert.notEqual(await placeOf(meanwhile.id), place);
    await engine.remove(made.id);
    await engine.remove(meanwhile.id);
  });

  test('one that was found after a kill is known from then on, and not taken for a stranger when it waits', async (t) => {
    const { engine, owner, placeOf, create, image } = await open(t, { ready: 0 });
    const { id } = await create('a');
    const place = await placeOf(id);
    const second = engineOf(owner);
    t.after(() => second.close());
    await second.tidy();
    await second.remove(id);
    await second.tidy();
    const next = await second.create(specOf({ image }, 'true', { group: 'a' }));
    assert.equal(await placeOf(next.id), place);
    await second.remove(next.id);
    await engine.remove(id);
  });
});
