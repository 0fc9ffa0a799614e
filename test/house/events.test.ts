/** What changes something leaves an event. What is called without GET and changes nothing says so in the list beside. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeApp } from '../../src/app.ts';
import { nothing, readList, unexpected } from './lists.ts';

const { operations, actions } = describeApp();

/** GETs that act (wire.md 0.2). */
const acting = /\/(run|retry|cancel|stop|login|logout|password\/:\w+)$|\/discovery\/feed\/:\w+$/;

it('what may change something is audited', () => {
  const silent = operations.filter(({ method, path, audit }) => (method !== 'GET' || acting.test(path)) && audit === 'not-audited');
  const inside = actions.filter(({ audit }) => audit === 'not-audited');
  assert.deepEqual(
    unexpected(
      [...silent, ...inside].map(({ id }) => id),
      readList('not-audited.txt'),
    ),
    nothing,
  );
});

it('reading leaves no event', () => {
  const reading = operations.filter(({ method, path, audit }) => method === 'GET' && !acting.test(path) && audit !== 'not-audited');
  assert.deepEqual(
    reading.map(({ id }) => id),
    [],
  );
});
