/** Every path of the specification is mounted under exactly its capabilities or stands in not-yet.txt; every other one stands in own-routes.txt. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeApp } from '../../src/app.ts';
import type { Operation } from '../../src/kernel/action.ts';
import { contractIds, contractRoutes, type Route, shapeOf, spelt } from './contract.ts';
import { nothing, readList, unexpected } from './lists.ts';

const mounted = describeApp().operations;
const addressOf = ({ method, path }: Pick<Operation, 'method' | 'path'>): string => `${method} ${spelt(path)}`;

const capabilitiesThatDiffer = (
  operations: readonly Pick<Operation, 'method' | 'path' | 'capabilities'>[],
  routes: readonly Route[],
): readonly string[] =>
  operations.flatMap((operation) => {
    const wanted = routes.find(({ address }) => address === addressOf(operation))?.capabilities;
    const [have, want] = [operation.capabilities.toSorted().join(' '), wanted?.toSorted().join(' ')];
    return want === undefined || have === want ? [] : [`${addressOf(operation)} has ${have}, the specification ${want}`];
  });

it('every path of the specification is mounted or not there yet', () => {
  const addresses = new Set(mounted.map(addressOf));
  const missing = [...new Set(contractRoutes().map(({ address }) => address))].filter((address) => !addresses.has(address));
  assert.deepEqual(unexpected(missing, readList('not-yet.txt', { reasons: false })), nothing);
});

it('every other path has a reason', () => {
  const wanted = new Set(contractRoutes().map(({ address }) => address));
  const own = mounted.map(addressOf).filter((address) => !wanted.has(address));
  assert.deepEqual(unexpected(own, readList('own-routes.txt')), nothing);
});

it('every path is served where the specification says', () => {
  assert.deepEqual(capabilitiesThatDiffer(mounted, contractRoutes()), []);
});

it('no path is mounted twice', () => {
  const addresses = mounted.map(addressOf);
  assert.deepEqual(
    addresses.filter((address, i) => addresses.indexOf(address) !== i),
    [],
  );
});

it('operations are called what the contract calls them', () => {
  const ids = contractIds();
  const others = mounted.filter(({ id, method, path }) => !(ids.get(shapeOf(method, path)) ?? [id]).includes(id));
  assert.deepEqual(
    others.map(({ id, method, path }) => `${id} is ${ids.get(shapeOf(method, path))} in the contract`),
    [],
  );
  const all = mounted.map(({ id }) => id);
  assert.deepEqual(
    all.filter((id, i) => all.indexOf(id) !== i),
    [],
  );
});

it('would notice another capability', () => {
  const routes: readonly Route[] = [{ address: 'GET /a/:b', capabilities: ['webra', 'events'] }];
  const at = (capabilities: Operation['capabilities']) =>
    capabilitiesThatDiffer([{ method: 'GET', path: '/a/:b', capabilities }], routes).length;
  assert.deepEqual([at(['events', 'webra']), at(['webra']), at(['webra', 'events', 'dcv'])], [0, 1, 1]);
});
