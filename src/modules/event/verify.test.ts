import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import { type Bench, makeContext, openBench } from '../../../test/support/context.ts';
import type { Commit } from '../../kernel/change.ts';
import type { Context, Reader } from '../../kernel/context.ts';
import { createCommitter } from '../../storage/commit.ts';
import { createRefusals } from './refusals.ts';
import { sealAll } from './sealer.ts';
import { createSeals } from './seals.ts';
import { createTrail } from './trail.ts';
import { verifyTrail } from './verify.ts';

const seals = createSeals(randomBytes(32));
const trail = createTrail(seals, createRefusals());

interface Node {
  readonly commit: Commit;
  readonly context: Context;
}
let bench: Bench;
let nodes: readonly [Node, Node];

before(async () => {
  bench = await openBench();
  const node = async () => ({
    commit: createCommitter(bench.database.writers),
    context: await makeContext({ database: bench.database, now: bench.clock.now, random: randomBytes }),
  });
  nodes = [await node(), await node()];
});
after(() => bench.close());
const clear = () => bench.database.writers.query('truncate event, event_pending, event_head');
beforeEach(clear);

const append = ({ commit, context }: Node, details: Readonly<Record<string, string>>) =>
  commit([trail.append({ code: 'CONF-ADD', module: 'configuration', status: 'success', details }, context)]);
const seal = ({ commit, context }: Node) => sealAll(seals, commit, context);
const verify = (database: Reader, startFrom?: string) => verifyTrail({ database, seals, pulse: async () => {} }, startFrom);

test('an empty trail is in order, and so is one that only waits', async () => {
  assert.deepEqual(await verify(bench.database), {});
  await append(nodes[0], { name: 'lab' });
  assert.deepEqual(await verify(bench.database), {});
});

test('a check may begin at a later event, and does not look before it', async () => {
  const { database } = bench;
  for (let i = 0; i < 6; i++) await append(nodes[0], { name: `${i}` });
  await seal(nodes[0]);
  const ids = (await database.rows<{ id: string }>({ text: 'select id from event order by number' })).map(({ id }) => id);
  await database.writers.query(`update event set node = 'x' where number = 2`);
  assert.equal((await verify(database)).reason, 'event 2 was altered');
  assert.deepEqual(await verify(database, ids[3]), { from: ids[3], to: ids[5] });
  assert.equal((await verify(database, ids[1])).reason, 'event 2 was altered');
  assert.equal((await verify(database, 'f'.repeat(24))).reason, `event ${'f'.repeat(24)} is missing`);
});

test('a head of another course of events is seen', async () => {
  const { database } = bench;
  const [first, second] = nodes;
  await append(first, { name: 'first' });
  await seal(first);
  const [before] = (await database.writers.query('select * from event_head')).rows;
  await append(first, { name: 'second' });
  await seal(first);
  const [later] = (await database.writers.query('select * from event_head')).rows;
  const put = (head: typeof before) =>
    database.writers.query('update event_head set number = $1, seal = $2, mac = $3', [head.number, head.seal, head.mac]);
  await database.writers.query('delete from event where number = 2');
  await put(before);
  await append(second, { name: 'another second' });
  await seal(second);
  assert.equal((await verify(database)).reason, undefined);
  await put(later);
  assert.equal((await verify(database)).reason, 'the head does not fit');
});

// Tampering

const size = 25;
const waiting = 4;

/** An edit by hand and what the check must say of it. */
interface Damage {
  readonly statements: readonly (readonly [text: string, ...values: unknown[]])[];
  readonly reason: string | RegExp;
  /** SQL that answers the id of the record that must be named. */
  readonly named?: string;
}

const number = fc.integer({ min: 1, max: size });
const column = fc.constantFrom('id', 'code', 'module', 'node', 'status', 'seal');
const change = (name: string) =>
  `${name} = overlay(${name} placing case substr(${name}, 1 + $2 % length(${name}), 1) when 'e' then 'f' else 'e' end from 1 + $2 % length(${name}))`;
const detailEdits = fc.constantFrom(
  `details || '{"name": "another"}'`,
  `details || '{"more": ""}'`,
  `details - 'name'`,
  `'{}'`,
  `'null'`,
  `'[]'`,
  `details || '{"name": ["1"]}'`,
  `jsonb_build_object('name', 0)`,
);
const namedAt = (n: number) => `select id from event where number = ${n}`;
const altered = (n: number) => ({ reason: `event ${n} was altered`, named: namedAt(n) });
const forge = (at: number) =>
  [
    `insert into event select ${at}, lpad(to_hex($1::bigint), 24, 'f'), code, module, node, status, at, details, seal from event order by number limit 1`,
    4_000 + Math.abs(at),
  ] as const;
const pendingAt = (offset: number) => `(select id from event_pending order by position offset ${offset} limit 1)`;

const damages: fc.Arbitrary<Damage> = fc.oneof(
  fc
    .tuple(number, column, fc.nat(200))
    .map(([n, name, at]): Damage => ({ statements: [[`update event set ${change(name)} where number = $1`, n, at]], ...altered(n) })),
  fc
    .tuple(number, fc.integer({ min: -5_000, max: 5_000 }).filter(Boolean))
    .map(([n, by]): Damage => ({ statements: [['update event set at = at + $2::bigint where number = $1', n, by]], ...altered(n) })),
  fc
    .tuple(number, detailEdits)
    .map(([n, edit]): Damage => ({ statements: [[`update event set details = ${edit} where number = $1`, n]], ...altered(n) })),
  number.map((n): Damage => ({ statements: [['delete from event where number = $1', n]], reason: `event ${n} is missing` })),
  number.map((n): Damage => ({ statements: [['delete from event where number >= $1', n]], reason: `event ${n} is missing` })),
  number.map(
    (n): Damage => ({ statements: [['update event set number = number + 1000 where number = $1', n]], reason: `event ${n} is missing` }),
  ),
  fc.uniqueArray(number, { minLength: 2, maxLength: 2 }).map(
    ([a = 0, b = 0]): Damage => ({
      statements: [
        ['update event set number = -1 where number = $1', a],
        ['update event set number = $1 where number = $2', a, b],
        ['update event set number = $1 where number = -1', b],
      ],
      ...altered(Math.min(a, b)),
    }),
  ),
  fc
    .integer({ min: 1, max: 50 })
    .map(
      (by): Damage => ({ statements: [forge(size + by)], reason: `an event was inserted after event ${size}`, named: namedAt(size + by) }),
    ),
  fc.nat(50).map((by): Damage => ({ statements: [forge(-by)], reason: 'an event was inserted before event 1', named: namedAt(-by) })),
  number.map(
    (n): Damage => ({
      statements: [
        ['update event set number = -number where number >= $1', n],
        ['update event set number = 1 - number where number < 0'],
        forge(n),
      ],
      ...altered(n),
    }),
  ),
  fc
    .integer({ min: -size, max: size })
    .filter(Boolean)
    .map((by): Damage => ({ statements: [['update event_head set number = number + $1::bigint', by]], reason: /^the head does not fit/ })),
  fc.tuple(fc.constantFrom('seal', 'mac'), fc.nat(127)).map(
    ([name, at]): Damage => ({
      statements: [[`update event_head set ${change(name)} where number >= $1`, 0, at]],
      reason: /^the head does not fit/,
    }),
  ),
  fc.constant<Damage>({ statements: [['delete from event_head']], reason: 'the head is missing' }),
  fc.constant<Damage>({ statements: [['delete from event']], reason: 'event 1 is missing' }),
  fc.tuple(fc.nat(waiting - 1), fc.constantFrom('code', 'module', 'node', 'status', 'mac'), fc.nat(200)).map(
    ([n, name, at]): Damage => ({
      statements: [[`update event_pending set ${change(name)} where id = ${pendingAt(n)} and $1 = 0`, 0, at]],
      reason: /^pending event .* was not written by the service$/,
      named: `select id from event_pending order by position offset ${n} limit 1`,
    }),
  ),
  fc.tuple(fc.nat(waiting - 1), detailEdits).map(
    ([n, edit]): Damage => ({
      statements: [[`update event_pending set details = ${edit} where id = ${pendingAt(n)}`]],
      reason: /^pending event .* was not written by the service$/,
      named: `select id from event_pending order by position offset ${n} limit 1`,
    }),
  ),
  fc.constantFrom('overriding system value select -9223372036854775808,', 'overriding system value select 9223372036854775807,').map(
    (position): Damage => ({
      statements: [
        [
          `insert into event_pending (position, id, code, module, node, status, at, details, mac) ${position} '${'e'.repeat(24)}', code, module, node, status, at, details, mac from event_pending limit 1`,
        ],
      ],
      reason: `pending event ${'e'.repeat(24)} was not written by the service`,
      named: `select id from event_pending where id = '${'e'.repeat(24)}'`,
    }),
  ),
);

/** Reads what only this session sees. */
const readerOf = (client: pg.Client): Reader => ({
  rows: async ({ text, values }) => (await client.query({ text, values: [...(values ?? [])] })).rows,
});

test('whatever is edited, deleted, inserted or moved by hand is found, and the right record named', async () => {
  const { database } = bench;
  for (let i = 0; i < size; i++) await append(nodes[i % 2]!, { name: `${i}`, certificateDn: `CN=${i}` });
  await seal(nodes[0]);
  for (let i = 0; i < waiting; i++) await append(nodes[0], { name: `waiting ${i}` });
  assert.equal((await verify(database)).reason, undefined);
  const types = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) } as pg.CustomTypesConfig;
  const client = new pg.Client({ connectionString: bench.database.writers.options.connectionString, types });
  await client.connect();
  const check = async ({ statements, reason, named }: Damage) => {
    await client.query('begin');
    for (const [text, ...values] of statements) assert.ok((await client.query(text, values)).rowCount, 'the damage is done');
    const verdict = await verify(readerOf(client));
    if (typeof reason === 'string') assert.equal(verdict.reason, reason);
    else assert.match(verdict.reason ?? '', reason);
    if (named) assert.equal(verdict.eventId, (await client.query(named)).rows[0].id);
  };
  const property = fc.asyncProperty(damages, (damage) => check(damage).finally(() => client.query('rollback')));
  await fc.assert(property, { numRuns: 500 }).finally(() => client.end());
  assert.equal((await verify(database)).reason, undefined);
});
