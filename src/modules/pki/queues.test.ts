import assert from 'node:assert/strict';
import { it } from 'node:test';
import { collectionContract } from '../../../test/conformance/collection.ts';
import { createPlaces, QueueFull, queues } from './queues.ts';

const start = (size = 2) => {
  let time = 0;
  const places = createPlaces(() => time)({ name: 'slow', size });
  const held = () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    return { work: () => promise, resolve, reject };
  };
  const later = (ms: number) => {
    time += ms;
  };
  return { places, held, later };
};

it('refuses what finds the queue full, before it does anything', async () => {
  const { places, held } = start();
  const [one, two] = [held(), held()];
  const running = [places.last('a', one.work), places.last('b', two.work)];
  let begun = false;
  await assert.rejects(
    places.last('c', async () => {
      begun = true;
    }),
    (error) => error instanceof QueueFull && /'slow' is full: 2 orders/.test(error.message),
  );
  assert.equal(begun, false);
  one.resolve('done');
  assert.equal(await running[0], 'done');
  assert.equal(await places.last('c', async () => 'c'), 'c');
  two.reject(new Error('broken'));
  await assert.rejects(running[1]!, /broken/);
  assert.deepEqual(await Promise.all(['d', 'e'].map((id) => places.last(id, async () => id))), ['d', 'e']);
});

it('keeps the place of an order between its steps, and one only', async () => {
  const { places } = start(1);
  await places.first('a', async () => 'prepared');
  await assert.rejects(
    places.first('b', async () => 'prepared'),
    QueueFull,
  );
  await places.first('a', async () => 'prepared again');
  await places.last('a', async () => 'issued');
  await places.first('b', async () => 'prepared');
});

it('frees the place of an order that fails or never comes back', async () => {
  const { places, later } = start(1);
  await assert.rejects(
    places.first('a', () => Promise.reject(new Error('lint'))),
    /lint/,
  );
  await places.first('b', async () => 'prepared');
  later(59_999);
  await assert.rejects(
    places.first('c', async () => 'prepared'),
    QueueFull,
  );
  later(1);
  await places.first('c', async () => 'prepared');
});

it('keeps queues apart, and bounds nothing where there is none', async () => {
  const placesIn = createPlaces(() => 0);
  await placesIn({ name: 'one', size: 1 }).first('a', async () => 1);
  assert.equal(await placesIn({ name: 'two', size: 1 }).first('b', async () => 2), 2);
  await assert.rejects(
    placesIn({ name: 'one', size: 1 }).first('b', async () => 1),
    QueueFull,
  );
  await Promise.all(['a', 'b', 'c'].map((order) => placesIn(undefined).first(order, async () => order)));
});

const valid = { name: 'slow', description: 'One order after another', clusterWide: false, size: 10 };
collectionContract(queues, {
  valid,
  invalid: [
    { ...valid, size: 0 },
    { ...valid, size: 1.5 },
    { ...valid, clusterWide: undefined },
    { ...valid, clusterWide: true },
    { ...valid, throttleDuration: '1 minute' },
    { ...valid, throttleDuration: '1 minute', throttleParallelism: 3 },
    { ...valid, throttleParallelism: 3 },
    { ...valid, name: 'a b' },
  ],
});
