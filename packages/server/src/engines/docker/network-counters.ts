import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { DockerClient } from './docker-client.ts';
import { read, Statistics } from './shapes.ts';

export interface CountedPlace {
  readonly id: string;
  /** Of its process, in the engine's numbering. */
  readonly pid: number;
}

/**
 * Bytes that went in and out of a network place since it was made. Read from the kernel where the engine is on this
 * machine. Elsewhere the engine tells them, which takes it up to a second.
 */
export async function readCounters(client: DockerClient, place: CountedPlace): Promise<number> {
  return (await readLocalCounters(place)) ?? (await askCounters(client, place));
}

/** Undefined when this machine has no such process: it has ended, or the engine numbers its processes differently. */
export async function readLocalCounters(place: CountedPlace): Promise<number | undefined> {
  if (place.pid <= 0) return undefined;
  try {
    // The number may be another process's by now.
    const groups = await readFile(`/proc/${place.pid}/cgroup`, 'utf8');
    if (!groups.includes(place.id)) return undefined;
    return sumOf(await readFile(`/proc/${place.pid}/net/dev`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The same in no time at all: what is to begin at this moment does not wait for a thread that reads. */
export function localCountersNow(place: CountedPlace): number | undefined {
  if (place.pid <= 0) return undefined;
  try {
    if (!readFileSync(`/proc/${place.pid}/cgroup`, 'utf8').includes(place.id)) return undefined;
    return sumOf(readFileSync(`/proc/${place.pid}/net/dev`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Each line is "name: received bytes, seven more, sent bytes, …"; what a container sends to itself is not counted. */
function sumOf(table: string): number {
  let sum = 0;
  for (const line of table.split('\n').slice(2)) {
    const [name, figures] = line.split(':');
    if (figures === undefined || name?.trim() === 'lo') continue;
    const columns = figures.trim().split(/\s+/).map(Number);
    sum += (columns[0] ?? 0) + (columns[8] ?? 0);
  }
  return sum;
}

async function askCounters(client: DockerClient, place: CountedPlace): Promise<number> {
  const answer = await client.call('GET', `/containers/${place.id}/stats`, {
    query: { stream: false, 'one-shot': true },
  });
  return networkBytes(read(Statistics, answer, 'statistics'));
}

export function networkBytes({ networks }: Statistics): number {
  return Object.values(networks ?? {}).reduce(
    (sum, { rx_bytes, tx_bytes }) => sum + rx_bytes + tx_bytes,
    0,
  );
}
