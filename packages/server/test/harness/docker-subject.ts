import { globSync } from 'node:fs';
import { DockerClient } from '../../src/engines/docker/docker-client.ts';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { findEngineAddress } from '../../src/engines/docker/find.ts';
import { labelFilter, ownerLabel } from '../../src/engines/docker/labels.ts';
import { newId } from '../../src/ids.ts';
import type { Subject } from '../engines/conformance/subject.ts';
import { type EngineProxy, startEngineProxy } from './engine-proxy.ts';
import { engineAddress, forgetImage, makeTestImage } from './images.ts';

/** Docker, or what answers at the address of the tests, with names of its own, so that other tests can use it too. */
export async function openDockerSubject(): Promise<Subject> {
  const owner = `reactord-test-${newId()}`;
  const open = (address = engineAddress, name = owner): DockerEngine =>
    new DockerEngine({ address, environment: process.env, owner: name });
  const image = await makeTestImage();
  const engine = open();
  const proxies: EngineProxy[] = [];
  const proxied: DockerEngine[] = [];
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
      proxied.push(behind);
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
      await engine.removeLeftovers({});
      await engine.close();
      const last = open(undefined, `${owner}-proxied`);
      await last.removeLeftovers({});
      await last.close();
      for (const proxy of proxies) await proxy.dispose();
      await image.remove();
      const left = [...(await tracesOf(owner)), ...(await tracesOf(`${owner}-proxied`))];
      if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
    },
  };
}

async function tracesOf(owner: string): Promise<readonly string[]> {
  const client = new DockerClient(engineAddress, process.env);
  const filters = labelFilter({ [ownerLabel]: owner });
  const found = await Promise.all([
    client.call('GET', '/containers/json', { query: { all: true, filters } }),
    client.call('GET', '/networks', { query: { filters } }),
  ]);
  client.close();
  const named = found.map((list, at) =>
    Array.isArray(list) ? list.map((one) => `${at === 0 ? 'container' : 'network'} ${one.Id}`) : [],
  );
  return [...named.flat(), ...globSync(`/sys/fs/cgroup/{,*/}${owner}`)];
}
