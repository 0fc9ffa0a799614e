import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { createDatabase } from '../../test/support/database.ts';
import type { ColumnType } from '../kernel/change.ts';
import { encodeColumn, parameterText, valueText } from './columns.ts';
import { type Database, openDatabase } from './database.ts';

const storable = fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed() && !value.includes('\0'));
const awkward = fc.constantFrom('', 'NULL', 'null', '{}', '"', '\\', '\\"', '{"a"}', ',', ' x ', "'", 'a\nb', '\\x00', 'ü', '😀', '\uffff');
const text = fc.oneof(storable, awkward);

/** What the driver reads of jsonb: numbers as they are, keys of an object once each. */
const json = fc.jsonValue({ stringUnit: 'grapheme' }).filter((value) => !JSON.stringify(value).includes('\\u0000'));

const values: Readonly<Record<ColumnType, fc.Arbitrary<unknown>>> = {
  text,
  bigint: fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, -1, 2 ** 32, 2 ** 32 - 1, -(2 ** 32), 2 ** 31, -(2 ** 31))),
  boolean: fc.boolean(),
  bytea: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  jsonb: fc.oneof(json, fc.constantFrom({}, [], '', 0, false, [null], { a: null }, 'null')).filter((value) => value !== null),
  'text[]': fc.array(text, { maxLength: 5 }),
};

describe('a column', () => {
  let database: Database;
  let close: () => Promise<void>;
  before(async () => {
    const { url, drop } = await createDatabase();
    database = openDatabase({ url, poolSize: 1, lanes: 1 });
    close = async () => {
      await database.close();
      await drop();
    };
  });
  after(() => close());

  const sent = async (type: ColumnType, column: readonly unknown[]): Promise<readonly unknown[]> => {
    const from = `unnest(${parameterText(type, 1)}) with ordinality as x(v, i)`;
    const rows = await database.rows<{ v: unknown }>({
      name: `columns-${type}`,
      text: `select ${valueText(type, 'x.v')} as v from ${from} order by i`,
      values: [encodeColumn(type, column)],
    });
    return rows.map(({ v }) => v);
  };

  for (const [type, value] of Object.entries(values) as [ColumnType, fc.Arbitrary<unknown>][])
    it(`of ${type} comes back as it went, NULL among it`, () =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.option(value), { minLength: 1, maxLength: 12 }), async (column) => {
          const expected = type === 'jsonb' ? column.map((item) => JSON.parse(JSON.stringify(item)) as unknown) : column;
          assert.deepEqual(await sent(type, column), expected);
        }),
        { numRuns: 60 },
      ));

  it('takes undefined for NULL', async () => {
    for (const type of Object.keys(values) as ColumnType[]) assert.deepEqual(await sent(type, [undefined, null]), [null, null], type);
  });

  it('refuses numbers that it cannot hold', () => {
    for (const wrong of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 53)])
      assert.throws(() => encodeColumn('bigint', [wrong]), RangeError, String(wrong));
  });

  it('is refused by the database where a text holds NUL: nothing is cut off', async () => {
    await assert.rejects(sent('text', ['a\0b']), { code: '22021' });
    await assert.rejects(sent('text[]', [['a\0b']]), { code: '22021' });
    await assert.rejects(sent('jsonb', [{ a: 'a\0b' }]), { code: '22P05' });
  });
});
