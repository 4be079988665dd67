import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BatchCommitter, GroupCommit, type Outcome } from '../../src/store/group-commit.ts';

/** A database that commits when it is told to. */
class HeldCommitter implements BatchCommitter {
  readonly overlaps: boolean;
  readonly sizes: number[] = [];
  readonly #held: (() => void)[] = [];

  constructor(overlaps: boolean) {
    this.overlaps = overlaps;
  }

  commit(batch: readonly unknown[]): Promise<readonly Outcome[]> {
    this.sizes.push(batch.length);
    return new Promise((resolve) => {
      this.#held.push(() => resolve(batch.map(() => [])));
    });
  }

  async settle(): Promise<void> {
    this.#held.shift()?.();
    await nextTurn();
    await nextTurn();
  }
}

const open = (overlaps: boolean) => {
  const committer = new HeldCommitter(overlaps);
  const commits = new GroupCommit(committer, undefined);
  const write = async (count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) void commits.write([]);
    await nextTurn();
  };
  return { committer, write };
};

describe('group commit', () => {
  test('what arrives during a commit shares the next one', async () => {
    const { committer, write } = open(false);
    await write(3);
    await write(2);
    await write(4);
    await committer.settle();
    assert.deepEqual(committer.sizes, [3, 6]);
  });

  test('callers in unequal halves become equal ones, where a commit takes as long as its statements', async () => {
    const { committer, write } = open(true);
    await write(22);
    await write(10);
    await committer.settle();
    await write(22);
    await committer.settle();
    await write(10);
    await committer.settle();
    await write(16);
    await committer.settle();
    assert.deepEqual(committer.sizes, [22, 10, 16, 16, 16]);
  });

  test('where the disk takes the time, a commit is as large as it can be', async () => {
    const { committer, write } = open(false);
    await write(2);
    await write(30);
    await committer.settle();
    assert.deepEqual(committer.sizes, [2, 30]);
  });

  test('what comes together after a commit shares the next one, whatever the last one was', async () => {
    const { committer, write } = open(true);
    await write(1);
    await committer.settle();
    await write(20);
    assert.deepEqual(committer.sizes, [1, 20]);
  });

  test('a caller who comes back at once brings others along', async () => {
    const committer = new HeldCommitter(true);
    const commits = new GroupCommit(committer, undefined);
    const first = commits.write([]);
    await nextTurn();
    void first.then(() => {
      for (let made = 0; made < 20; made += 1) void commits.write([]);
    });
    await committer.settle();
    assert.deepEqual(committer.sizes, [1, 20]);
  });

  test('nobody is left waiting when no more callers come', async () => {
    const { committer, write } = open(true);
    await write(1);
    await write(9);
    while (committer.sizes.reduce((sum, size) => sum + size, 0) < 10) await committer.settle();
    assert.deepEqual(committer.sizes, [1, 5, 4]);
  });
});
