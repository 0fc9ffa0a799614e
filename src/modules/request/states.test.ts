import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, moves, statuses } from './states.ts';

test('every pair of state and move: led or refused', () => {
  const led = statuses.flatMap((status) =>
    moves.flatMap((move) => (after(status, move) ? [`${status} ${move} ${after(status, move)}`] : [])),
  );
  assert.deepEqual(led, [
    'pending approve approved',
    'pending deny denied',
    'pending cancel canceled',
    'approved issue completed',
    'approved fail failed',
  ]);
});
