import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { Cgroups } from '../../src/engines/docker/cgroups.ts';

/** A folder that looks like /sys/fs/cgroup. A machine has one layout of the four; the conformance suite uses the real one. */
function layout(
  t: { after(end: () => void): void },
  files: Readonly<Record<string, string>>,
): { root: string; cgroups: Cgroups } {
  const root = mkdtempSync(join(tmpdir(), 'reactord-cgroup-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return { root, cgroups: new Cgroups('reactord-a', root) };
}

const v2 = {
  'cpu.stat': 'usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n',
  'io.stat': '8:0 rbytes=4096 wbytes=100 rios=1 wios=1 dbytes=7 dios=0\n8:16 rbytes=1 wbytes=2\n',
  'memory.events': 'low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n',
};
const within = (folder: string, files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

describe('control groups', () => {
  test('of version 2 tell CPU time, block I/O and kills, with cgroupfs', async (t) => {
    const facts = { cgroupDriver: 'cgroupfs', cgroupVersion: 2 } as const;
    const { cgroups } = layout(t, within('reactord-a/one', v2));
    const parent = cgroups.parentOf('one', facts);
    assert.equal(parent, '/reactord-a/one');
    assert.deepEqual(await cgroups.figures(parent, facts), {
      cpu: 1_234_567_000,
      blockBytes: 4199,
    });
    assert.equal(await cgroups.ranOutOfMemory(parent, facts, { memoryBytes: 1, kills: 0 }), true);
  });

  test('are slices under systemd, where a dash is a step down', async (t) => {
    const facts = { cgroupDriver: 'systemd', cgroupVersion: 2 } as const;
    const { cgroups } = layout(t, within('reactord_a.slice/reactord_a-x_1.slice', v2));
    const parent = cgroups.parentOf('x-1', facts);
    assert.equal(parent, 'reactord_a-x_1.slice');
    assert.equal((await cgroups.figures(parent, facts))?.cpu, 1_234_567_000);
  });

  test('of version 1 tell CPU time, each controller in its own tree', async (t) => {
    const facts = { cgroupDriver: 'cgroupfs', cgroupVersion: 1 } as const;
    const { cgroups } = layout(t, { 'cpuacct/reactord-a/one/cpuacct.usage': '987654321\n' });
    assert.deepEqual(await cgroups.figures('/reactord-a/one', facts), {
      cpu: 987_654_321,
      blockBytes: 0,
    });
  });

  test('that are not there tell nothing', async (t) => {
    const facts = { cgroupDriver: 'cgroupfs', cgroupVersion: 2 } as const;
    const { cgroups } = layout(t, {});
    assert.equal(await cgroups.figures('/reactord-a/none', facts), undefined);
    assert.equal(
      await cgroups.ranOutOfMemory('/reactord-a/none', facts, { memoryBytes: 1, kills: 0 }),
      false,
    );
    assert.equal(cgroups.areWithin({ cgroupDriver: 'none', cgroupVersion: 2 }), false);
  });

  test('of containers that are gone are removed, in every tree, and the others stay', async (t) => {
    const facts = { cgroupDriver: 'cgroupfs', cgroupVersion: 1 } as const;
    const { root, cgroups } = layout(t, {});
    for (const tree of ['cpu', 'memory'])
      for (const name of ['here', 'gone'])
        mkdirSync(join(root, tree, 'reactord-a', name), { recursive: true });
    await cgroups.removeOthers(new Set(['here']), facts);
    for (const tree of ['cpu', 'memory']) {
      assert.ok(existsSync(join(root, tree, 'reactord-a/here')));
      assert.ok(!existsSync(join(root, tree, 'reactord-a/gone')));
    }
    await cgroups.removeOthers(new Set(), facts);
    assert.ok(!existsSync(join(root, 'cpu/reactord-a')));
  });
});
