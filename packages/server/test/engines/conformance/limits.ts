import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { EngineRefused } from '../../../src/engines/engine.ts';
import { run, type Subject, specOf } from './subject.ts';

const MiB = 1024 * 1024;

export function testLimits(get: () => Subject): void {
  describe('limits', () => {
    test('a fork bomb stops at the limit of processes', async () => {
      const bomb = 'i=0; while [ $i -lt 200 ]; do sleep 20 & i=$((i+1)); done; echo all';
      const limits = { memoryBytes: 64 * MiB, cpus: 1, processes: 20 };
      const { stdout, stderr, end } = await run(get(), bomb, { limits });
      assert.equal(stdout, '');
      assert.match(stderr, /can't fork/);
      assert.notEqual(end.exitCode, 0);
    });

    test('a program over its memory is killed, and the end says so', async () => {
      const limits = { memoryBytes: 32 * MiB, cpus: 1, processes: 20 };
      const { end } = await run(get(), 'exec tail /dev/zero', { limits });
      assert.equal(end.exitCode, 137);
      assert.equal(end.outOfMemory, true);
      assert.equal(end.finalState.OOMKilled, true);
    });

    test('a container that merely fails, or fills its memory with files, is not called out of memory', async () => {
      const limits = { memoryBytes: 32 * MiB, cpus: 1, processes: 20 };
      const fill = 'dd if=/dev/zero of=/big bs=1M count=100 2>/dev/null; kill -KILL $$';
      const { end } = await run(get(), fill, { limits });
      assert.equal(end.exitCode, 137);
      assert.equal(end.outOfMemory, false);
    });

    test('there is no swap to escape to', async () => {
      const { stdout } = await run(
        get(),
        'cat /sys/fs/cgroup/memory/memory.memsw.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.swap.max',
        { limits: { memoryBytes: 32 * MiB, cpus: 1, processes: 20 } },
      );
      assert.match(stdout.trim(), new RegExp(`^(${32 * MiB}|0)$`));
    });

    test('a container gets the share of a core that it was given, and what it used is told exactly', async () => {
      const { engine } = get();
      const limits = { memoryBytes: 64 * MiB, cpus: 0.5, processes: 20 };
      await run(
        get(),
        'timeout 2 sh -c "while :; do :; done"; true',
        { limits },
        async ({ id }) => {
          const usage = await engine.usage(id);
          assert.ok(usage?.exact);
          assert.ok(usage.cpu < 1.3e9, `${usage.cpu} ns in 2 s at half a core`);
          assert.ok(usage.cpu > 0.05e9, `${usage.cpu} ns in 2 s at half a core`);
        },
      );
    });

    test('nothing can gain privileges, and root inside has only what ordinary images need', async () => {
      const { stdout } = await run(
        get(),
        'grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status',
      );
      // CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID: bits 0, 1, 3, 5, 6 and 7.
      assert.equal(
        stdout,
        'CapEff:\t00000000000000eb\nCapBnd:\t00000000000000eb\nNoNewPrivs:\t1\n',
      );
    });

    test('an image can still set itself up as root and go on as another user, on a low port', async () => {
      const script = [
        'echo app:x:1000:1000::/:/bin/sh > /etc/passwd',
        'mkdir /data && chown 1000 /data',
        'echo "id -u; echo hi > /data/f; nc -l -p 80 & sleep 0.3; kill $! && echo listened" > /app',
        'su app -c "sh /app" 2>&1',
      ];
      const { stdout, stderr } = await run(get(), script.join('; ').replace('$!', '\\$!'));
      assert.match(stdout, /^1000\n/, stderr);
      assert.match(stdout, /listened/);
    });

    test('a container is privileged only when it is asked for', async (t) => {
      const script = 'mount -t tmpfs none /tmp && echo mounted';
      assert.equal((await run(get(), script)).stdout, '');
      try {
        assert.equal((await run(get(), script, { privileged: true })).stdout, 'mounted\n');
      } catch (error) {
        // The engine tried, on a machine that is itself confined.
        if (!(error instanceof EngineRefused && /unable to apply caps/.test(error.message)))
          throw error;
        t.skip('this machine cannot run privileged containers');
      }
    });

    test('folders of this machine are seen, read-only where that was said', async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'reactord-mount-'));
      t.after(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, 'note'), 'hello');
      const mount = { from: folder, to: '/given' };
      const script = 'cat /given/note; echo x > /given/other && echo written';
      const closed = await run(get(), script, { mounts: [{ ...mount, readOnly: true }] });
      assert.equal(closed.stdout, 'hello');
      const open = await run(get(), script, { mounts: [{ ...mount, readOnly: false }] });
      assert.equal(open.stdout, 'hellowritten\n');
    });

    test("the engine's own socket is never handed to a container, nor a folder that it is in", async () => {
      for (const from of ['/var/run/docker.sock', '/var/run', '/run/', '/']) {
        await assert.rejects(
          get().engine.create(
            specOf(get(), 'true', { mounts: [{ from, to: '/x', readOnly: true }] }),
          ),
          (error) => error instanceof EngineRefused && /socket/.test(error.message),
        );
      }
    });
  });
}
