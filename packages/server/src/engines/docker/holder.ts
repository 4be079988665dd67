import type { DockerClient } from './docker-client.ts';
import { isRefusal } from './failures.ts';
import { holderImage } from './holder-image.ts';
import { holderFolder } from './holder-program.ts';
import { ownLabels } from './labels.ts';
import type { Bridge } from './network.ts';
import { Created, Inspection, read } from './shapes.ts';

/** A running container that has a network for another container to join, and gathers what that one sends. */
export interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly name: string;
}

/** A folder of this machine in which a holder keeps what it gathers. */
export interface HolderFolder {
  readonly path: string;
  /** No file of the holder grows over this. */
  readonly mostBytes: number;
}

/** Makes one and starts it. */
export async function makeHolder(
  client: DockerClient,
  owner: string,
  name: string,
  bridge: Bridge,
  folder: HolderFolder | undefined,
): Promise<Holder> {
  const answer = await client.call('POST', '/containers/create', {
    query: { name },
    body: {
      Image: holderImage,
      // A container that joins has this name too.
      Hostname: 'reactor',
      User: '65534:65534',
      Labels: ownLabels(owner, 'holder'),
      HostConfig: {
        NetworkMode: bridge.id,
        ExtraHosts: extraHosts(bridge),
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        LogConfig: { Type: 'none' },
        RestartPolicy: { Name: 'no' },
        ...(folder !== undefined && {
          Mounts: [{ Type: 'bind', Source: folder.path, Target: holderFolder }],
          Ulimits: [{ Name: 'fsize', Soft: folder.mostBytes, Hard: folder.mostBytes }],
          // What a container sends is work for the holder, and the container's limit does not count that.
          NanoCpus: 1e9,
        }),
      },
    },
  });
  const { Id } = read(Created, answer, 'a new container');
  try {
    return await startHolder(client, Id, name);
  } catch (error) {
    await removeHolder(client, Id).catch(() => {});
    throw error;
  }
}

export async function startHolder(client: DockerClient, id: string, name: string): Promise<Holder> {
  await client.call('POST', `/containers/${id}/start`);
  const { State } = read(
    Inspection,
    await client.call('GET', `/containers/${id}/json`),
    'a container',
  );
  return { id, pid: State.Pid, name };
}

/** No error when it is gone. */
export async function removeHolder(client: DockerClient, id: string): Promise<void> {
  try {
    await client.call('DELETE', `/containers/${id}`, { query: { force: true, v: true } });
  } catch (error) {
    if (!isRefusal(error, 404, 409)) throw error;
  }
}

/** The name by which a container reaches the machine. The bridge's own address works where the default bridge is off. */
export function extraHosts(bridge: Bridge): readonly string[] {
  const address = bridge.isLocal ? bridge.gateway : undefined;
  return [`host.docker.internal:${address ?? 'host-gateway'}`];
}
