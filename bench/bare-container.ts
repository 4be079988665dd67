import type { DockerClient } from '../packages/server/src/engines/docker/docker-client.ts';

/** The barest run of a container that the Docker API allows: create, wait, start, remove, on Docker's own bridge. */
export async function runBare(
  client: DockerClient,
  container: { readonly Image: string; readonly Cmd?: string[]; readonly Env?: string[] },
): Promise<void> {
  const made = await client.call('POST', '/containers/create', { body: container });
  const id = String(typeof made === 'object' && made !== null && 'Id' in made ? made.Id : '');
  const ended = client.call('POST', `/containers/${id}/wait`, {
    query: { condition: 'next-exit' },
  });
  await client.call('POST', `/containers/${id}/start`);
  await ended;
  await client.call('DELETE', `/containers/${id}`, { query: { force: true, v: true } });
}
