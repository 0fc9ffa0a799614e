import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRefusals } from './refusals.ts';

const minute = 60_000;

test('so many a minute are admitted, the rest is counted until it is told', () => {
  const refusals = createRefusals<string>({ perMinute: 3 });
  const answers = Array.from({ length: 5 }, (_, i) => refusals.admits('mallory', 'sample', i));
  assert.deepEqual(answers, [true, true, true, false, false]);
  assert.ok(refusals.admits('alice', 'sample', 5), 'another caller is not concerned');
  assert.equal(refusals.take('alice'), 0);
  assert.ok(refusals.admits('mallory', 'sample', minute));
  assert.equal(refusals.take('mallory'), 2);
  assert.equal(refusals.take('mallory'), 0);
});

test('what nobody asks for again is told once it is a minute old', () => {
  const refusals = createRefusals<string>({ perMinute: 1 });
  for (const key of ['a', 'a', 'a', 'b']) refusals.admits(key, `of ${key}`, 0);
  assert.deepEqual(refusals.takeStale(minute - 1), []);
  assert.deepEqual(refusals.takeStale(minute), [{ sample: 'of a', untold: 2 }]);
  assert.deepEqual(refusals.takeStale(10 * minute), []);
});

test('callers without number do not fill the memory', () => {
  const refusals = createRefusals<string>({ perMinute: 1, kindsMax: 2 });
  for (const key of ['a', 'b', 'c']) assert.ok(refusals.admits(key, key, 0));
  assert.ok(refusals.admits('a', 'a', 1), 'the oldest was forgotten');
  assert.ok(!refusals.admits('c', 'c', 1));
});
