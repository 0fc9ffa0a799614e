import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { type Bench, makeContext, openBench } from '../../../test/support/context.ts';
import { type Commit, Conflict } from '../../kernel/change.ts';
import type { Context, Reader } from '../../kernel/context.ts';
import { createCommitter } from '../../storage/commit.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { createRefusals } from './refusals.ts';
import { sealAll } from './sealer.ts';
import { createSeals, detailsText } from './seals.ts';
import { createTrail } from './trail.ts';
import { verifyTrail } from './verify.ts';

const seals = createSeals(randomBytes(32));
const trail = createTrail(seals, createRefusals());

interface Node {
  readonly commit: Commit;
  readonly context: Context;
}
let bench: Bench;
let other: Database;
let nodes: readonly [Node, Node];

const nodeOn = async (database: Database): Promise<Node> => ({
  commit: createCommitter(database.writers),
  context: await makeContext({ database, now: bench.clock.now, random: randomBytes }),
});
before(async () => {
  bench = await openBench();
  other = openDatabase({ url: bench.database.writers.options.connectionString!, poolSize: 2, lanes: 2 });
  nodes = [await nodeOn(bench.database), await nodeOn(other)];
});
after(async () => {
  await other.close();
  await bench.close();
});
const clear = () => bench.database.writers.query('truncate event, event_pending, event_head');
beforeEach(clear);

const append = ({ commit, context }: Node, details: Readonly<Record<string, string>>) =>
  commit([trail.append({ code: 'CONF-ADD', module: 'configuration', status: 'success', details }, context)]);
const seal = ({ commit, context }: Node) => sealAll(seals, commit, context);
const verify = (database: Reader, startFrom?: string) => verifyTrail({ database, seals, pulse: async () => {} }, startFrom);

test('PostgreSQL prints details as they are sealed', async () => {
  const key = fc.string({ unit: 'binary-ascii', maxLength: 8 }).filter((name) => !name.includes('\0'));
  const value = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.toWellFormed().replaceAll('\0', ''));
  const all = fc.sample(fc.dictionary(key, value, { maxKeys: 8 }), 500);
  const text = 'select jsonb_array_elements($1::jsonb)::text as printed';
  const rows = await bench.database.rows<{ printed: string }>({ text, values: [JSON.stringify(all)] });
  assert.deepEqual(
    rows.map(({ printed }) => printed),
    all.map(detailsText),
  );
});

test('two sealers at once make one chain without gaps, and no event is lost or doubled', async () => {
  const batch = fc.record({ by: fc.nat(1), size: fc.integer({ min: 1, max: 40 }), sealers: fc.subarray([0, 1] as const) });
  const check = async (batches: readonly { by: number; size: number; sealers: readonly (0 | 1)[] }[]) => {
    await clear();
    await Promise.all(
      batches.flatMap(({ by, size, sealers }) => [
        ...Array.from({ length: size }, (_, i) => append(nodes[by]!, { name: `${by} ${i}` })),
        ...sealers.map((i) => seal(nodes[i])),
      ]),
    );
    while ((await bench.database.rows({ text: 'select 1 from event_pending limit 1' })).length > 0) {
      await Promise.all([seal(nodes[0]), seal(nodes[1])]);
    }
    const rows = await bench.database.rows<{ number: number; id: string }>({ text: 'select number, id from event order by number' });
    const size = batches.reduce((sum, one) => sum + one.size, 0);
    assert.deepEqual(
      rows.map(({ number }) => number),
      Array.from({ length: size }, (_, i) => i + 1),
    );
    assert.deepEqual(await verify(bench.database), { from: rows[0]!.id, to: rows.at(-1)!.id });
  };
  await fc.assert(fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 8 }), check), { numRuns: 15 });
});

test('a batch that meets a longer queue than one batch is sealed whole', async () => {
  await Promise.all(Array.from({ length: 2_500 }, (_, i) => append(nodes[0], { name: `${i}` })));
  assert.equal(await seal(nodes[0]), undefined);
  const rows = await bench.database.rows<{ message: string }>({ text: `select details ->> 'name' as name from event order by number` });
  assert.equal(rows.length, 2_500);
  assert.equal((await verify(bench.database)).reason, undefined);
});

test('what cannot be stored as it is, is stored as something near', async () => {
  await append(nodes[0], { message: `\u0000 \ud800 \r\n\u001b[31m "},{"`, name: 'é'.repeat(5_000) });
  await seal(nodes[0]);
  const [row] = await bench.database.rows<{ details: Record<string, string> }>({ text: 'select details from event' });
  assert.deepEqual(row?.details, { message: '\ufffd \ufffd \r\n\u001b[31m "},{"', name: `${'é'.repeat(3_999)}…` });
  assert.equal((await verify(bench.database)).reason, undefined);
});

test('a pending row of somebody else is left alone, and one event tells of it', async () => {
  const { database } = bench;
  await append(nodes[0], { name: 'ours' });
  const [foreign] = (await database.writers.query<{ id: string }>(copyPending('f'.repeat(24)))).rows;
  for (const node of [nodes[0], nodes[1], nodes[0]]) assert.equal(await seal(node), undefined);
  const events = await database.rows<{ code: string; status: string; message?: string }>({
    text: `select code, status, details ->> 'message' as message from event order by number`,
  });
  assert.deepEqual(
    events.map(({ code, status }) => [code, status]),
    [
      ['CONF-ADD', 'success'],
      ['SUPERVISOR', 'warning'],
    ],
  );
  assert.match(events[1]!.message!, new RegExp(foreign!.id));
  const { eventId, reason } = await verify(database);
  assert.deepEqual([eventId, reason], [foreign!.id, `pending event ${foreign!.id} was not written by the service`]);
});

const copyPending = (id: string) =>
  `insert into event_pending (id, code, module, node, status, at, details, mac) select '${id}', code, module, node, status, at, details, mac from event_pending limit 1 returning id`;

test('a pending row that is put back after it was sealed stops nothing', async () => {
  const { database } = bench;
  await append(nodes[0], { name: 'first' });
  const [kept] = (await database.writers.query('select * from event_pending')).rows;
  await seal(nodes[0]);
  await database.writers.query(
    'insert into event_pending (id, code, module, node, status, at, details, mac) values ($1, $2, $3, $4, $5, $6, $7, $8)',
    [kept.id, kept.code, kept.module, kept.node, kept.status, kept.at, kept.details, kept.mac],
  );
  await append(nodes[0], { name: 'second' });
  assert.equal(await seal(nodes[0]), undefined);
  const [{ count } = { count: 0 }] = await database.rows<{ count: number }>({ text: 'select count(*) as count from event' });
  assert.equal(count, 3);
  assert.equal((await verify(database)).reason, `pending event ${kept.id} was put back after it was sealed`);
});

test('nothing is built on a head that is not ours', async () => {
  const { database } = bench;
  for (const [damage, obstacle] of [
    ['update event_head set number = number + 1', /does not fit/],
    ['delete from event_head', /missing/],
  ] as const) {
    await clear();
    await append(nodes[0], { name: 'first' });
    await seal(nodes[0]);
    await database.writers.query(damage);
    await append(nodes[0], { name: 'second' });
    assert.match((await seal(nodes[0])) ?? '', obstacle);
    assert.equal((await database.rows({ text: 'select 1 from event' })).length, 1);
  }
});

test('a head put back to an earlier moment is seen, and nothing is sealed twice', async () => {
  const { database } = bench;
  await append(nodes[0], { name: 'first' });
  await seal(nodes[0]);
  const [old] = (await database.writers.query('select * from event_head')).rows;
  await append(nodes[0], { name: 'second' });
  await seal(nodes[0]);
  await database.writers.query('update event_head set number = $1, seal = $2, mac = $3', [old.number, old.seal, old.mac]);
  assert.match((await verify(database)).reason ?? '', /^the head does not fit: it is older/);
  await append(nodes[0], { name: 'third' });
  assert.match((await seal(nodes[0])) ?? '', /there already/);
});

test('a sealer that lost the race says nothing', async () => {
  await append(nodes[0], { name: 'lab' });
  const loser: Commit = () => Promise.reject(new Conflict('condition'));
  assert.equal(await sealAll(seals, loser, nodes[0].context), undefined);
});
