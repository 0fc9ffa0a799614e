import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServiceError } from '../../kernel/errors.ts';
import { createGate } from './gate.ts';

it('a gate lets a few in, some wait in order, and the rest is turned away', async () => {
  const gate = createGate({ atOnceMax: 2, waitingMax: 3 });
  const order: number[] = [];
  const opened: (() => void)[] = [];
  let inside = 0;
  const enter = (index: number) =>
    gate(async () => {
      inside += 1;
      assert.ok(inside <= 2);
      order.push(index);
      await new Promise<void>((resolve) => opened.push(resolve));
      inside -= 1;
      if (index === 1) throw new Error('one fails');
    });
  const all = Promise.allSettled([0, 1, 2, 3, 4, 5].map(enter));
  for (let left = 5; left > 0; left--) {
    await new Promise(setImmediate);
    opened.shift()!();
  }
  const results = await all;
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
  );
  const { reason } = results[5] as PromiseRejectedResult;
  assert.ok(reason instanceof ServiceError && reason.kind.code === 'ROUTE-005');
  await gate(async () => {});
});
