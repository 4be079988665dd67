import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endOf } from '../../src/engines/docker/end.ts';

const exited = {
  Status: 'exited',
  Running: false,
  Paused: false,
  Restarting: false,
  OOMKilled: false,
  Dead: false,
  Pid: 0,
  ExitCode: 0,
  Error: '',
};

describe('the end of a container', () => {
  test('starts when it ended where Docker noted the start too late', () => {
    const end = endOf(
      {
        ...exited,
        StartedAt: '2026-01-01T10:00:00.033Z',
        FinishedAt: '2026-01-01T10:00:00.0299Z',
      },
      false,
    );
    assert.equal(end.startedAt, '2026-01-01T10:00:00.0299Z');
    assert.equal(end.finalState.StartedAt, '2026-01-01T10:00:00.0299Z');
    assert.equal(end.finishedAt, '2026-01-01T10:00:00.0299Z');
  });

  test('starts when Docker says so otherwise, also while there is no end', () => {
    const StartedAt = '2026-01-01T10:00:00.033Z';
    for (const FinishedAt of ['2026-01-01T10:00:01Z', '0001-01-01T00:00:00Z']) {
      assert.equal(endOf({ ...exited, StartedAt, FinishedAt }, false).startedAt, StartedAt);
    }
  });
});
