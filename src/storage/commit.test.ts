import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type pg from 'pg';
import { createDatabase } from '../../test/support/database.ts';
import { type Change, type Commit, Conflict, defineTable, guard, insert, remove, update } from '../kernel/change.ts';
import { createCommitter } from './commit.ts';
import { type Database, openDatabase } from './database.ts';

const once1 = defineTable('once', { id: 'text', state: 'text' }, ['id']);
const line = defineTable('line', { text: 'text' }, ['text']);
const kept = defineTable('kept', { id: 'text', bytes: 'bytea', labels: 'jsonb', names: 'text[]', at: 'bigint', flag: 'boolean' }, ['id']);

describe('the committer', () => {
  let database: Database;
  let commit: Commit;
  let close: () => Promise<void>;
  let url: string;

  before(async () => {
    const made = await createDatabase();
    url = made.url;
    database = openDatabase({ url, poolSize: 2, lanes: 3 });
    await database.writers.query(`
      create table once (id text primary key, state text not null);
      create table line (text text not null);
      create table kept (id text primary key, bytes bytea, labels jsonb, names text[], at bigint, flag boolean);
      create table child (once_id text references once)`);
    commit = createCommitter(database.writers, { lanes: 3, unitsMax: 16 });
    close = async () => {
      await database.close();
      await made.drop();
    };
  });
  after(() => close());

  const outcome = (changes: readonly Change[]) =>
    commit(changes).then(
      () => 'won',
      (error: unknown) => (error instanceof Conflict ? error.reason : assert.fail(String(error))),
    );
  const lines = async (prefix: string) =>
    (await database.rows<{ text: string }>({ text: 'select text from line where text like $1 order by 1', values: [`${prefix}%`] })).map(
      ({ text }) => text,
    );

  it('writes every type of column as it was given', async () => {
    const row = {
      id: 'k',
      bytes: Buffer.from([0, 255, 1]),
      labels: { a: 'ü"\\', b: null },
      names: ['x', 'y,"z'],
      at: 1_795_000_000_000,
      flag: true,
    };
    await commit([insert(kept, row), insert(kept, { id: 'nulls', bytes: null, labels: [], names: [], at: null, flag: null })]);
    const rows = await database.rows({ text: 'select * from kept order by id' });
    assert.deepEqual(rows, [row, { id: 'nulls', bytes: null, labels: [], names: [], at: null, flag: null }]);
  });

  it('lets a thing that may happen once happen once, and leaves nothing of the losers', async () => {
    await commit([insert(once1, { id: 'a', state: 'new' })]);
    const units = Array.from({ length: 500 }, (_, i) => [
      update(once1, { id: 'a' }, { state: `used ${i}` }, { state: 'new' }),
      insert(line, { text: `a ${i}` }),
    ]);
    const outcomes = await Promise.all(units.map(outcome));
    assert.equal(outcomes.filter((one) => one === 'won').length, 1);
    assert.deepEqual(await lines('a '), [`a ${outcomes.indexOf('won')}`]);
  });

  it('tells a taken key, a lost condition and a reference apart, and keeps what a guard names', async () => {
    assert.equal(await outcome([insert(once1, { id: 'b', state: 'x' })]), 'won');
    assert.equal(await outcome([insert(once1, { id: 'b', state: 'x' }), insert(line, { text: 'never' })]), 'duplicate');
    assert.equal(await outcome([guard(once1, { id: 'b' }, { state: 'y' }), insert(line, { text: 'never' })]), 'condition');
    assert.equal(await outcome([guard(once1, { id: 'b' }, { state: 'x' }), insert(line, { text: 'b kept' })]), 'won');
    await database.writers.query("insert into child values ('b')");
    assert.equal(await outcome([remove(once1, { id: 'b' }), insert(line, { text: 'never' })]), 'reference');
    assert.equal(await outcome([update(once1, { id: 'missing' }, { state: 'z' })]), 'condition');
    assert.deepEqual(await lines('never'), []);
  });

  it('keeps what a guard names from the other units of its transaction too', async () => {
    await commit([insert(once1, { id: 'g', state: 'x' }), insert(once1, { id: 'h', state: 'x' })]);
    const crossed = [
      [remove(once1, { id: 'g' }), guard(once1, { id: 'h' })],
      [remove(once1, { id: 'h' }), guard(once1, { id: 'g' })],
    ];
    assert.deepEqual((await Promise.all(crossed.map(outcome))).sort(), ['condition', 'won']);
  });

  it('refuses two changes of one row in one unit', async () => {
    await commit([insert(once1, { id: 'two', state: 'x' })]);
    for (const unit of [
      [update(once1, { id: 'two' }, { state: 'y' }), update(once1, { id: 'two' }, { state: 'z' })],
      [update(once1, { id: 'two' }, { state: 'y' }), remove(once1, { id: 'two' }, { state: 'x' })],
      [insert(once1, { id: 'three', state: 'x' }), update(once1, { id: 'three' }, { state: 'y' })],
    ])
      assert.equal(await outcome(unit), 'condition');
    const rows = await database.rows({ text: "select id, state from once where id in ('two', 'three')" });
    assert.deepEqual(rows, [{ id: 'two', state: 'x' }]);
  });

  it('does not let one unit spoil the others that share its transaction', async () => {
    const units = Array.from({ length: 60 }, (_, i) =>
      i % 7 === 0 ? [insert(once1, { id: 'b', state: 'taken' })] : [insert(line, { text: `shared ${i}` })],
    );
    const outcomes = await Promise.all(units.map(outcome));
    assert.deepEqual(
      outcomes,
      units.map((_, i) => (i % 7 === 0 ? 'duplicate' : 'won')),
    );
    assert.equal((await lines('shared ')).length, outcomes.filter((one) => one === 'won').length);
  });

  it('ends random concurrent changes over few keys as some order of them one by one would', async () => {
    const step = fc.record({ key: fc.nat(3), from: fc.nat(4), to: fc.nat(4), other: fc.nat(3), guarded: fc.boolean() });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
        round += 1;
        const name = (key: number) => `r${round}-${key}`;
        await Promise.all([0, 1, 2, 3].map((key) => commit([insert(once1, { id: name(key), state: '0' })])));
        const outcomes = await Promise.all(
          steps.map(({ key, from, to, other, guarded }, i) =>
            outcome([
              update(once1, { id: name(key) }, { state: String(to) }, { state: String(from) }),
              insert(line, { text: `${name(key)}|${from}|${to}|${i}` }),
              ...(guarded && other !== key ? [guard(once1, { id: name(other) }, {})] : []),
            ]),
          ),
        );
        const written = await lines(`r${round}-`);
        assert.equal(written.length, outcomes.filter((one) => one === 'won').length, 'each winner left its line, no loser did');
        const rows = await database.rows<{ id: string; state: string }>({
          text: 'select id, state from once where id like $1',
          values: [`r${round}-%`],
        });
        for (const { id, state } of rows)
          assert.ok(
            isWalk(
              written.filter((text) => text.startsWith(`${id}|`)).map((text) => text.split('|').slice(1, 3) as [string, string]),
              '0',
              state,
            ),
            `${id} did not get to ${state} step by step`,
          );
      }),
      { numRuns: 8 },
    );
  });

  it('keeps all of an action or nothing when the process is killed in the middle', async () => {
    for (let round = 0; round < 3; round += 1) {
      const child = fork(join(import.meta.dirname, '../../test/support/commit-until-killed.ts'), [url, String(round)], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      const acknowledged: string[] = [];
      child.on('message', (id) => void acknowledged.push(String(id)));
      while (acknowledged.length < 200) await once(child, 'message');
      child.kill('SIGKILL');
      await once(child, 'exit');
      const written = await waitForQuiet(`k${round}-`);
      const halves = await database.rows<{ id: string }>({
        text: "select id from once where id like $1 and not exists (select 1 from line where text = 'line ' || id)",
        values: [`k${round}-%`],
      });
      assert.deepEqual(halves, []);
      assert.ok(
        acknowledged.every((id) => written.has(id)),
        'what was acknowledged is there',
      );
    }
  });

  /** The killed process's last transaction ends when the server notices. */
  async function waitForQuiet(prefix: string): Promise<Set<string>> {
    const busy = {
      text: "select 1 from pg_stat_activity where datname = current_database() and application_name = 'perennial' and state <> 'idle' and pid <> pg_backend_pid()",
    };
    while ((await database.rows(busy)).length > 0);
    return new Set(
      (await database.rows<{ id: string }>({ text: 'select id from once where id like $1', values: [`${prefix}%`] })).map(({ id }) => id),
    );
  }
});

describe('the committer of a database in trouble', () => {
  const failure = (code: string) => Object.assign(new Error(code), { code });
  /** Fails as told, call by call; then succeeds. */
  function setUp(failures: readonly (string | undefined)[]) {
    const calls: number[] = [];
    const pool = {
      query: async ({ values }: { values: readonly unknown[] }) => {
        const code = failures[calls.push(Number(values.at(-1))) - 1];
        if (code !== undefined) throw failure(code);
      },
    };
    const commit = createCommitter(pool as unknown as pg.Pool, { lanes: 1, unitsMax: 16 });
    const settled = async (units: number) =>
      (await Promise.allSettled(Array.from({ length: units }, (_, i) => commit([insert(line, { text: String(i) })])))).map((one) =>
        one.status === 'fulfilled' ? 'won' : String((one.reason as { code?: string }).code),
      );
    return { calls, settled };
  }
  const away = 'database-unavailable';

  for (const code of ['ECONNREFUSED', '57P01', '57014', '08006'])
    it(`tells everybody at once of ${code}`, async () => {
      const { calls, settled } = setUp([code]);
      assert.deepEqual([await settled(3), calls], [[away, away, away], [3]]);
    });

  it('does not try the others when it goes away while a loser is looked for', async () => {
    const { calls, settled } = setUp(['23505', undefined, 'ECONNRESET']);
    assert.deepEqual(
      [await settled(4), calls],
      [
        ['won', away, away, away],
        [4, 1, 1],
      ],
    );
  });

  it('repeats what met a deadlock, alone, a few times', async () => {
    const once = setUp(['40P01', '40P01', '40001']);
    assert.deepEqual(
      [await once.settled(2), once.calls],
      [
        ['won', 'won'],
        [2, 1, 1, 1, 1],
      ],
    );
    const ever = setUp(Array(9).fill('40P01'));
    assert.deepEqual([await ever.settled(1), ever.calls.length], [['40P01'], 6]);
  });

  it('goes on after a change that cannot be written down', async () => {
    const commit = createCommitter({ query: async () => {} } as unknown as pg.Pool, { lanes: 1, unitsMax: 16 });
    const units = [insert(kept, { id: 'a', at: 1.5 }), insert(kept, { id: 'b', at: 2 })].map((change) => commit([change]));
    const [bad, good] = await Promise.allSettled(units);
    assert.deepEqual([bad?.status, good?.status], ['rejected', 'fulfilled']);
  });
});

/** Whether moves can be put in an order that leads from one state to the other: an Eulerian path of the multigraph of moves. */
function isWalk(moves: readonly [string, string][], start: string, end: string): boolean {
  if (moves.length === 0) return start === end;
  const balance = new Map<string, number>();
  for (const [from, to] of moves) {
    balance.set(from, (balance.get(from) ?? 0) + 1);
    balance.set(to, (balance.get(to) ?? 0) - 1);
  }
  const wanted = (state: string) => (state === start ? 1 : 0) - (state === end ? 1 : 0);
  if ([...balance].some(([state, n]) => n !== wanted(state)) || (!balance.has(start) && start !== end)) return false;
  const reached = new Set([start]);
  for (let grew = true; grew; ) {
    grew = false;
    for (const [from, to] of moves) if (reached.has(from) && !reached.has(to)) grew = Boolean(reached.add(to));
  }
  return moves.every(([from]) => reached.has(from));
}
