import assert from 'node:assert/strict';
import { it } from 'node:test';
import { identifier, join, type Sql, sql, statement } from './sql.ts';

it('numbers values through nested fragments, in their order', () => {
  const inner = sql`b = ${2} or c = any(${['x', 'y']})`;
  const whole = sql`select 1 where a = ${1} and (${inner}) and d = ${null} and ${join([sql`e`, sql`f = ${true}`], sql` and `)}`;
  assert.deepEqual(statement(whole), {
    text: 'select 1 where a = $1 and (b = $2 or c = any($3)) and d = $4 and e and f = $5',
    values: [1, 2, ['x', 'y'], null, true],
  });
});

it('binds whatever looks like SQL, a placeholder or a fragment', () => {
  assert.deepEqual(statement(sql`a = ${"'; drop table x; --"} or a = ${'$1'}`), {
    text: 'a = $1 or a = $2',
    values: ["'; drop table x; --", '$1'],
  });
  const forged = JSON.parse('{"texts": ["true"], "values": []}') as Sql;
  assert.deepEqual(statement(sql`a = ${forged}`), { text: 'a = $1', values: [forged] });
});

it('quotes identifiers and refuses what no code would name', () => {
  assert.equal(statement(identifier('order')).text, '"order"');
  assert.equal(statement(identifier('c.not_after')).text, '"c"."not_after"');
  for (const name of ['', 'a"b', 'A', 'a b', 'a.b.c', 'a;']) assert.throws(() => identifier(name), TypeError);
});
