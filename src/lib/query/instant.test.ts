import assert from 'node:assert/strict';
import { it } from 'node:test';
import { absolute, relative, resolve } from './instant.ts';
import type { Instant } from './tree.ts';

const now = Date.parse('2026-03-04T05:06:07.008Z');
const period = (instant: Instant | undefined) => {
  const { start, end } = resolve(instant!, now);
  return [new Date(start).toISOString(), new Date(end).toISOString()];
};

const covered: readonly (readonly [Instant | undefined, start: string, end: string])[] = [
  [absolute('2024'), '2024-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
  [absolute('2024-02'), '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
  [absolute('2024-12'), '2024-12-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
  [absolute('2024-02-29'), '2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
  [absolute('2024-02-29T23'), '2024-02-29T23:00:00.000Z', '2024-03-01T00:00:00.000Z'],
  [absolute('2024-02-29T23:59'), '2024-02-29T23:59:00.000Z', '2024-03-01T00:00:00.000Z'],
  [absolute('2024-02-29T23:59:59'), '2024-02-29T23:59:59.000Z', '2024-03-01T00:00:00.000Z'],
  [absolute('0000'), '0000-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
  ['today', '2026-03-04T00:00:00.000Z', '2026-03-05T00:00:00.000Z'],
  ['now', '2026-03-04T05:06:07.008Z', '2026-03-04T05:06:07.009Z'],
  [relative('30', 'days'), '2026-04-03T05:06:07.008Z', '2026-04-03T05:06:07.009Z'],
  [relative('-5', 'h'), '2026-03-04T00:06:07.008Z', '2026-03-04T00:06:07.009Z'],
  [relative('6', 'minute'), '2026-03-04T05:12:07.008Z', '2026-03-04T05:12:07.009Z'],
  [relative('-7', 'seconds'), '2026-03-04T05:06:00.008Z', '2026-03-04T05:06:00.009Z'],
];

for (const [instant, start, end] of covered) {
  it(`${JSON.stringify(instant)} begins ${start}`, () => assert.deepEqual(period(instant), [start, end]));
}

it('refuses what no calendar has, and other spellings', () => {
  for (const date of [
    '2023-02-29',
    '2024-13',
    '2024-00',
    '2024-01-32',
    '2024-01-01T24',
    '2024-01-01T10:60',
    '24',
    '2024-1',
    '2024-01-01 10',
    '',
  ]) {
    assert.equal(absolute(date), undefined, date);
  }
});

it('has no weeks, no months and no end of time', () => {
  for (const unit of ['w', 'M', 'y', 'D', '', 'constructor']) assert.equal(relative('1', unit), undefined, unit);
  assert.equal(relative('104249992', 'd'), undefined);
});
