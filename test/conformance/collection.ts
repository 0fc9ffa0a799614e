/** The contract that every collection keeps, run against each of them with its samples, over a real database. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Operation, Reply } from '../../src/kernel/action.ts';
import type { Change } from '../../src/kernel/change.ts';
import { type Collection, type Verb, writeDocument } from '../../src/kernel/collection.ts';
import type { Context } from '../../src/kernel/context.ts';
import { type Bench, eventsIn, openBench, principalWith } from '../support/context.ts';

/** A document that must be there before the valid one: its collection, its key, its body. */
export type Given = readonly [collection: string, key: string, body: Readonly<Record<string, unknown>>];

export interface Samples {
  readonly valid: Readonly<Record<string, unknown>>;
  /** Each is refused with the family's 002. */
  readonly invalid: readonly unknown[];
  /** What is answered, in part at least; default `valid`. */
  readonly shown?: Readonly<Record<string, unknown>>;
  readonly given?: readonly Given[];
}

const idPattern = /^[0-9a-f]{24}$/;
const codeOf = ({ body }: Reply): string => (body as { error: string }).error;
const numberOf = (reply: Reply): string => codeOf(reply).slice(-3);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

export async function writeGiven({ commit, as }: Bench, given: readonly Given[]): Promise<void> {
  const { newId } = await as();
  const changes: Change[] = given.flatMap(([tag, key, body]) => writeDocument({ tag }, { key, body, newId }).changes);
  if (changes.length > 0) await commit(changes);
}

/** A bench for the tests around the call: before each of them it holds `given` and nothing else. */
export function benchWith(given: readonly Given[]): Bench {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());
  beforeEach(async () => {
    await bench.clear();
    await writeGiven(bench, given);
  });
  return {
    get database() {
      return bench.database;
    },
    get performer() {
      return bench.performer;
    },
    get clock() {
      return bench.clock;
    },
    commit: (changes) => bench.commit(changes),
    as: (...call) => bench.as(...call),
    perform: (action, input, principal) => bench.perform(action, input, principal),
    clear: () => bench.clear(),
    close: () => bench.close(),
  };
}

export function collectionContract(collection: Collection, { valid, invalid, shown = valid, given = [] }: Samples): void {
  const key = String(valid[collection.key]);
  const byKey = { params: { [collection.key]: key } };
  const operations = new Map<Verb, Operation>();
  for (const [verb, method, end] of [
    ['list', 'GET', ''],
    ['get', 'GET', `/:${collection.key}`],
    ['create', 'POST', ''],
    ['update', 'PUT', ''],
    ['delete', 'DELETE', `/:${collection.key}`],
  ] as const) {
    const path = collection.operations[0]!.path.replace(/\/:[^/]*$/, '') + end;
    const found = collection.operations.find((operation) => operation.method === method && operation.path === path);
    if (found) operations.set(verb, found);
  }
  const rightOf = (verb: Verb): string => (operations.get(verb)!.permission as readonly string[])[0]!;
  const owner = principalWith(['configuration:*', 'lifecycle:*', 'discovery:*']);

  describe(`the collection ${collection.tag}`, () => {
    const bench = benchWith(given);
    const call = (verb: Verb, input: { params?: Record<string, string>; body?: unknown } = {}, principal = owner) =>
      bench.perform(operations.get(verb)!, input, principal);
    const create = async () =>
      assert.equal((await call('create', { body: valid })).status, operations.get('create')!.answers[200] ? 200 : 201);

    it('shows what was created', async () => {
      const { body } = await call('create', { body: valid });
      assert.match((body as { _id: string })._id, idPattern);
      assert.partialDeepStrictEqual(plain(body), plain(shown));
      assert.deepEqual(plain((await call('get', byKey)).body), plain(body));
    });

    if (operations.has('list'))
      it('lists nothing as 204 and something as 200', async () => {
        const known = given.filter(([tag]) => tag === collection.tag).length;
        if (known === 0) assert.deepEqual(await call('list'), { status: 204 });
        await create();
        const { status, body } = await call('list');
        assert.deepEqual([status, (body as unknown[]).length], [200, known + 1]);
        assert.equal((await call('list', {}, principalWith([]))).status, 204);
      });

    it('refuses a second one of the same name', async () => {
      await create();
      const again = await call('create', { body: valid });
      assert.deepEqual([again.status, numberOf(again)], [400, '004']);
    });

    it('makes one of many that come at once', async () => {
      const replies = await Promise.all(Array.from({ length: 8 }, () => call('create', { body: valid })));
      assert.equal(replies.filter(({ status }) => status < 300).length, 1);
      for (const reply of replies) if (reply.status >= 300) assert.deepEqual([reply.status, numberOf(reply)], [400, '004']);
    });

    for (const [index, sample] of invalid.entries()) {
      it(`refuses ${index}: ${JSON.stringify(sample)?.slice(0, 100)}`, async () => {
        const reply = await call('create', { body: sample });
        assert.deepEqual([reply.status, numberOf(reply)], [400, '002'], JSON.stringify(reply.body));
      });
    }

    it('updates and deletes only what exists', async () => {
      assert.deepEqual([(await call('update', { body: valid })).status, numberOf(await call('update', { body: valid }))], [404, '003']);
      assert.equal((await call('delete', byKey)).status, 404);
      assert.equal((await call('get', byKey)).status, 404);
      await create();
      assert.equal((await call('update', { body: valid })).status, 200);
      assert.deepEqual(await call('delete', byKey), { status: 204 });
      assert.equal((await call('get', byKey)).status, 404);
    });

    it('knows no name that cannot be stored', async () => {
      for (const name of ['\0', '\ud800', '../x', '']) {
        assert.equal((await call('get', { params: { [collection.key]: name } })).status, 404);
      }
    });

    it('answers a bug with its own 001 and no detail', async () => {
      const fail = async () => {
        throw new Error('secret detail');
      };
      const context: Context = { ...(await bench.as(owner)), configuration: { get: fail, list: fail, referrers: fail, memo: fail } };
      const input = { params: byKey.params, query: {}, body: valid };
      for (const [verb, operation] of operations) {
        const reply = await bench.performer.perform(operation, input, context);
        assert.deepEqual([reply.status, numberOf(reply)], [500, '001'], verb);
        assert.doesNotMatch(JSON.stringify(reply.body), /secret/);
      }
    });

    it('records each write once, refusals too, and no reading', async () => {
      await create();
      await call('create', { body: valid });
      await call('update', { body: valid });
      await call('get', byKey);
      await call('delete', byKey);
      await call('delete', byKey, principalWith([]));
      const codes = Object.fromEntries([...operations].map(([verb, { audit }]) => [verb, audit === 'not-audited' ? '' : audit.code]));
      const events = (await eventsIn(bench.database)).map(({ code, status }) => [code, status]);
      assert.deepEqual(events, [
        [codes['create'], 'success'],
        [codes['create'], 'failure'],
        [codes['update'], 'success'],
        [codes['delete'], 'success'],
        [codes['delete'], 'failure'],
      ]);
    });

    it('lets who may audit read and not write', async () => {
      await create();
      const reader = principalWith([rightOf('get')]);
      assert.equal((await call('get', byKey, reader)).status, 200);
      for (const verb of ['create', 'update', 'delete'] as const) {
        const reply = await call(verb, { ...byKey, body: valid }, reader);
        assert.deepEqual([reply.status, codeOf(reply)], [403, 'SEC-PERM-001'], verb);
      }
      const writer = principalWith([rightOf('create')]);
      assert.equal((await call('update', { body: valid }, writer)).status, 200);
      assert.equal((await call('get', byKey, writer)).status, 200);
    });
  });
}
