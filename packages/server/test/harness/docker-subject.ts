import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { findEngineAddress } from '../../src/engines/docker/find.ts';
import { labelFilter, ownerLabel } from '../../src/engines/docker/labels.ts';
import { Listed, Networks, read } from '../../src/engines/docker/shapes.ts';
import { newId } from '../../src/ids.ts';
import type { Subject } from '../engines/conformance/subject.ts';
import { type EngineProxy, startEngineProxy } from './engine-proxy.ts';
import { engineAddress, forgetImage, makeTestImage } from './images.ts';

/** Docker, or what answers at the address of the tests, with names of its own, so that other tests can use it too. */
export async function openDockerSubject(): Promise<Subject> {
  const owner = `reactord-test-${newId()}`;
  const folder = mkdtempSync(join(tmpdir(), 'reactord-spools-'));
  const open = (address = engineAddress, name = owner): DockerEngine =>
    new DockerEngine({
      address,
      environment: process.env,
      owner: name,
      network: owner,
      programs: join(folder, 'programs'),
      spools: { folder: join(folder, name), mostBytes: 1024 * 1024 },
    });
  const image = await makeTestImage();
  const engine = open();
  const proxies: EngineProxy[] = [];
  return {
    engine,
    image: image.reference,
    again: () => open(),
    behindProxy: async () => {
      const address = await findEngineAddress(engineAddress, process.env);
      if (address?.kind !== 'unix') throw new Error('only an engine at a socket can be cut off');
      const proxy = await startEngineProxy(address.path);
      proxies.push(proxy);
      // Of its own: two drivers never share an owner while both work.
      const behind = open(proxy.address, `${owner}-proxied`);
      return { engine: behind, cut: proxy.cut, restore: proxy.restore };
    },
    push: image.push,
    pushAnother: async (reference) => {
      const another = await makeTestImage();
      await another.push(reference);
      await another.remove();
    },
    forget: forgetImage,
    traces: () => tracesOf(owner),
    dispose: async () => {
      const last = open(undefined, `${owner}-proxied`);
      for (const one of [engine, last]) {
        await one.removeLeftovers({});
        await one.close();
      }
      for (const proxy of proxies) await proxy.dispose();
      await image.remove();
      rmSync(folder, { recursive: true, force: true });
      const left = [...(await tracesOf(owner)), ...(await tracesOf(`${owner}-proxied`))];
      if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
    },
  };
}

/** What the driver has made for this owner, and for its network. */
async function tracesOf(owner: string): Promise<readonly string[]> {
  const client = new DockerClient(engineAddress, process.env);
  const ask = (path: string, filters: string): Promise<unknown> =>
    client.call('GET', path, { query: { all: true, filters } });
  const containers = await ask('/containers/json', labelFilter({ [ownerLabel]: owner }));
  const networks = await ask('/networks', JSON.stringify({ name: [`^${owner}$`] }));
  client.close();
  return [
    ...read(Listed, containers, 'containers').map(({ Id }) => `container ${Id}`),
    ...read(Networks, networks, 'networks').map(({ Name }) => `network ${Name}`),
    ...globSync(`/sys/fs/cgroup/{,*/}${owner}`),
  ];
}
