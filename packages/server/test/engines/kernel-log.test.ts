import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KernelLog } from '../../src/engines/docker/kernel-log.ts';

const named = (group: string, pid: number): string =>
  `6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),mems_allowed=0,oom_memcg=${group},task_memcg=${group},task=tail,pid=${pid},uid=0`;
const killed = (pid: number): string =>
  `3,1,2,-;Memory cgroup out of memory: Killed process ${pid} (tail) total-vm:34488kB`;

describe('the log of the kernel', () => {
  test('tells of a kill in a group and below it, and not in its neighbour', () => {
    const log = new KernelLog();
    const before = log.killsSoFar();
    log.take(named('/owner/one/abc', 7));
    log.take(killed(7));
    assert.equal(log.tellsOfKill('/owner/one', before), true);
    assert.equal(log.tellsOfKill('/owner/on', before), false);
    assert.equal(log.tellsOfKill('/owner/two', before), false);
    log.close();
  });

  test('knows the group of a slice, which is named without its folders', () => {
    const log = new KernelLog();
    const before = log.killsSoFar();
    log.take(named('/owner.slice/owner-one.slice/abc', 7));
    assert.equal(log.tellsOfKill('owner-one.slice', before), true);
    log.close();
  });

  test('tells of a kill that the kernel did not name the group of, to those that were there', () => {
    const log = new KernelLog();
    const before = log.killsSoFar();
    log.take(killed(8));
    const after = log.killsSoFar();
    assert.equal(log.tellsOfKill('/owner/one', before), true);
    assert.equal(log.tellsOfKill('/owner/one', after), false);
    log.close();
  });
});
