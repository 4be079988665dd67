import { existsSync, readFileSync } from 'node:fs';
import { runCommand } from './command.ts';
import { say } from './say.ts';

const place = '/sys/fs/cgroup';

/**
 * Containers need control groups. systemd mounts them; a machine with another first process may have none.
 * The unified hierarchy is one mount and is what every kernel of today offers.
 */
export async function mountCgroups(): Promise<void> {
  const mounts = readFileSync('/proc/mounts', 'utf8');
  if (/^\S+ \S+ cgroup2? /m.test(mounts) || !existsSync(place)) return;
  say(`mounting control groups at ${place}…`);
  // What fails here shows in the daemon's log with its consequence.
  await runCommand('mount', ['-t', 'cgroup2', 'cgroup2', place]);
}
