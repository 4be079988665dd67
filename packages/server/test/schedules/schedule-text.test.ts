import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NoSchedule, readSchedule } from '../../src/cron/schedule-text.ts';

const times = (text: string, from: string, count: number, startAt?: string): string[] => {
  const table = readSchedule(text, startAt === undefined ? null : Date.parse(startAt));
  const found: string[] = [];
  for (let time = Date.parse(from); found.length < count; ) {
    time = table.after(time) ?? assert.fail('it never comes');
    found.push(new Date(time).toISOString().slice(0, 16));
  }
  return found;
};

test('a cron expression is in UTC unless a zone stands before it', () => {
  assert.deepEqual(times('30 9 * * MON-FRI', '2026-01-02T10:00Z', 2), [
    '2026-01-05T09:30',
    '2026-01-06T09:30',
  ]);
  assert.deepEqual(times('CRON_TZ=Asia/Tokyo 0 6 * * *', '2026-01-01T00:00Z', 1), [
    '2026-01-01T21:00',
  ]);
  assert.deepEqual(times('TZ=Asia/Tokyo 0 6 * * *', '2026-01-01T00:00Z', 1), ['2026-01-01T21:00']);
});

test('a time that the clocks leave out comes when they have gone on, and one that comes twice comes once', () => {
  // Berlin: on 29 March 2026 from 2:00 to 3:00, on 25 October from 3:00 back to 2:00.
  const berlin = 'CRON_TZ=Europe/Berlin 30 2 * * *';
  assert.deepEqual(times(berlin, '2026-03-28T12:00Z', 2), ['2026-03-29T01:00', '2026-03-30T00:30']);
  assert.deepEqual(times(berlin, '2026-10-24T12:00Z', 2), ['2026-10-25T00:30', '2026-10-26T01:30']);
  // Chicago: on 8 March 2026 from 2:00 to 3:00, on 1 November from 2:00 back to 1:00.
  const chicago = 'CRON_TZ=America/Chicago';
  assert.deepEqual(times(`${chicago} 30 2 * * *`, '2026-03-07T12:00Z', 2), [
    '2026-03-08T08:00',
    '2026-03-09T07:30',
  ]);
  assert.deepEqual(times(`${chicago} 30 1 * * *`, '2026-10-31T12:00Z', 2), [
    '2026-11-01T06:30',
    '2026-11-02T07:30',
  ]);
  // What comes every hour comes every hour.
  assert.deepEqual(times('CRON_TZ=Europe/Berlin 30 * * * *', '2026-10-24T23:00Z', 4), [
    '2026-10-24T23:30',
    '2026-10-25T00:30',
    '2026-10-25T01:30',
    '2026-10-25T02:30',
  ]);
  // Nine in the morning stays nine in the morning.
  assert.deepEqual(times(`${chicago} 0 9 * * *`, '2026-03-07T12:00Z', 2), [
    '2026-03-07T15:00',
    '2026-03-08T14:00',
  ]);
});

test('an interval counts from its start, in months to the same day or the last one', () => {
  assert.deepEqual(times('2030-01-31 08 + 6 hours', '2026-01-01T00:00Z', 3), [
    '2030-01-31T08:00',
    '2030-01-31T14:00',
    '2030-01-31T20:00',
  ]);
  assert.deepEqual(times('2030-01-31 08 + 1 month', '2030-01-31T08:00Z', 3), [
    '2030-02-28T08:00',
    '2030-03-31T08:00',
    '2030-04-30T08:00',
  ]);
  assert.deepEqual(times('now + 1 day', '2026-05-09T10:00Z', 2, '2026-05-01T10:17Z'), [
    '2026-05-09T10:17',
    '2026-05-10T10:17',
  ]);
  assert.deepEqual(times('2000-01-01 0 + 1 hour', '2026-05-09T10:30Z', 1), ['2026-05-09T11:00']);
  assert.deepEqual(times('NOW + 2 Weeks', '2026-05-01T00:00Z', 1, '2026-05-01T00:00Z'), [
    '2026-05-15T00:00',
  ]);
  const now = Date.parse('2026-05-01T10:17Z');
  assert.equal(readSchedule('now + 1 hour').first(now), now);
  assert.throws(() => readSchedule('2026-05-01 08 + 1 hour').first(now), NoSchedule);
});

test('what is no schedule is refused with a reason', () => {
  const wrong = [
    '',
    'hello',
    '* * * *',
    '61 * * * *',
    '* * * * * *',
    '0 0 * * 9',
    'CRON_TZ=Mars/Phobos 0 0 * * *',
    'CRON_TZ=Europe/Berlin',
    '2030-02-30 08 + 1 hour',
    '2030-01-01 24 + 1 hour',
    'now + 0 hours',
    'now + 1 fortnight',
    'now - 1 day',
    'now + 99999 days',
    `${'9'.repeat(200)} * * * *`,
  ];
  for (const text of wrong) assert.throws(() => readSchedule(text), NoSchedule, text);
  assert.equal(readSchedule('0 0 30 2 *').after(0), undefined);
});
