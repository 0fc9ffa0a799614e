import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { durationMaxMs, formatDuration, parseDuration } from './duration.ts';

const contractPattern = /^([0-9]+) *(ms|millisecond|milliseconds|s|second|seconds|m|minute|minutes|h|hour|hours|d|day|days)$/;

test('every unit name is read', () => {
  const names: Readonly<Record<number, string>> = {
    1: 'ms milli millis millisecond milliseconds',
    1000: 's sec secs second seconds',
    60000: 'm min mins minute minutes',
    3600000: 'h hour hours',
    86400000: 'd day days',
  };
  for (const [ms, line] of Object.entries(names))
    for (const name of line.split(' ')) {
      assert.equal(parseDuration(`3 ${name}`), 3 * Number(ms), name);
      assert.equal(parseDuration(`3${name}`), 3 * Number(ms), name);
    }
});

test('what is no duration is refused', () => {
  const wrong = [
    '',
    '5',
    'days',
    '-1 day',
    '1.5 days',
    '1e3 s',
    '1 week',
    '1 w',
    'P1D',
    'PT5M',
    'Inf',
    '5 Days',
    ' 5 days',
    '5 days ',
    '5 days\n',
  ];
  for (const text of [...wrong, '1 day 2 hours', '٣ days', '5 constructor', `${'9'.repeat(400)} ms`])
    assert.equal(parseDuration(text), undefined, text);
});

test('the longest duration is the last one read', () => {
  assert.equal(parseDuration('106751 days'), durationMaxMs);
  assert.equal(parseDuration('106752 days'), undefined);
  assert.equal(parseDuration(`${durationMaxMs + 1} ms`), undefined);
});

test('the largest exact unit is written', () => {
  const cases: readonly (readonly [number, string])[] = [
    [90 * 86_400_000, '90 days'],
    [86_400_000, '1 day'],
    [5_400_000, '90 minutes'],
    [7_200_000, '2 hours'],
    [1_500, '1500 milliseconds'],
    [1_000, '1 second'],
    [1, '1 millisecond'],
    [0, '0 days'],
  ];
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text);
  for (const ms of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) assert.throws(() => formatDuration(ms), RangeError);
});

test('what is written is read back, and the contract takes it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: durationMaxMs }), (ms) => {
      const text = formatDuration(ms);
      assert.match(text, contractPattern);
      assert.equal(parseDuration(text), ms);
    }),
  );
});

test('any text is read or refused, never thrown at', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseDuration(text)));
});
