import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineTable, guard, insert, remove, update } from '../kernel/change.ts';
import { groupStatement } from './statements.ts';

const thing = defineTable('thing', { id: 'text', n: 'bigint', body: 'jsonb' }, ['id']);
const other = defineTable('other', { id: 'text' }, ['id']);

describe('the statement of a group', () => {
  it('is the same whatever the order of its changes and however many of one shape there are', () => {
    const changes = [insert(other, { id: 'x' }), update(thing, { id: 'a' }, { n: 1 }, { n: 0 }), guard(other, { id: 'y' })];
    const first = groupStatement(changes);
    const second = groupStatement([...changes.toReversed(), insert(other, { id: 'z' })]);
    assert.deepEqual([second.name, second.text], [first.name, first.text]);
    assert.notDeepEqual(second.values, first.values);
  });

  it('holds no value, only what tables declare', () => {
    const { text } = groupStatement([insert(thing, { id: "'; drop table thing; --", body: { a: '$1' } }), remove(thing, { id: 'a' })]);
    assert.doesNotMatch(text, /drop/);
    assert.throws(() => groupStatement([insert(thing, { 'id) values (1); --': 'a' } as never)]), /has no column/);
  });

  it('finds rows by the whole of their key alone', () => {
    const pair = defineTable('pair', { one: 'text', two: 'text' }, ['one', 'two']);
    for (const change of [update(pair, { one: 'a' }, { two: 'b' }), remove(pair, { two: 'b' }), guard(pair, {})])
      assert.throws(() => groupStatement([change]), /does not name (one|two)/);
    groupStatement([remove(pair, { two: 'b', one: 'a' })]);
  });

  it('has a name as long as there are few of them: a connection never forgets one', () => {
    const names = new Set<string | undefined>();
    for (let i = 0; i < 700; i++) {
      const change = insert(defineTable(`table_${i}`, { id: 'text' }, ['id']), { id: 'a' });
      const [first, second] = [groupStatement([change]), groupStatement([change])];
      assert.deepEqual([first.name, first.text], [second.name, second.text]);
      names.add(first.name);
    }
    assert.ok(names.has(undefined) && names.size <= 501, String(names.size));
  });
});
