/** A declared table answers whatever its dictionary lets be asked: no query that is accepted is refused by the database. To be called with a pool. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { type Dictionary, type SortElement, sortColumns, vocabularyOf } from '../../src/kernel/search.ts';
import { conditions, trees, type Words } from '../../src/lib/query/fixtures/trees.ts';
import { parse } from '../../src/lib/query/parse.ts';
import { print } from '../../src/lib/query/print.ts';
import { type Condition, type FieldKind, grades, type Test, type Tree } from '../../src/lib/query/tree.ts';
import { compile, count, page } from '../../src/storage/search.ts';

const now = Date.parse('2026-02-03T04:05:06Z');

/** What the members of a family are asked by where any name will do. */
const anyMember = 'Some-thing_1';

/** The words of a declared language, all of them. */
function wordsOf({ fields, families = {}, specials = {} }: Dictionary): Words {
  const named: readonly (readonly [string, FieldKind])[] = [
    ...Object.entries(fields).map(([name, { kind }]) => [name, kind] as const),
    ...Object.entries(families).flatMap(([family, { kind, keys }]) =>
      (keys instanceof RegExp ? [anyMember] : keys).map((key) => [`${family}.${key}`, kind] as const),
    ),
  ];
  const ofKind = (wanted: FieldKind) => named.filter(([, kind]) => kind === wanted).map(([name]) => name);
  const special = Object.entries(specials).flatMap(([subject, { verb, values }]) =>
    Object.keys(values).map((value) => [subject, verb, value] as const),
  );
  return { string: ofKind('string'), id: ofKind('id'), number: ofKind('number'), date: ofKind('date'), grade: ofKind('grade'), special };
}

/**
 * Whatever can be asked of a declared table, and however it is sorted, the database answers: every field with every operator, every special word,
 * every sort, and random combinations. A page and a count see the same rows.
 */
export async function dictionaryConformance(pool: Pool, dictionary: Dictionary, from: string): Promise<void> {
  const sorts = [...new Set(sortNamesOf(dictionary))];
  const sortedBy = fc.uniqueArray(
    fc.record({ element: fc.constantFrom(...sorts), order: fc.constantFrom('Asc' as const, 'Desc' as const) }),
    { selector: ({ element }) => element, maxLength: 3 },
  );
  const words = wordsOf(dictionary);
  const answered = async (tree: Tree | undefined, elements: readonly SortElement[]) => {
    const query = tree && print(tree);
    const selection = { from, where: [compile(parse(query, vocabularyOf(dictionary)), dictionary, now)] };
    const sort = sortColumns(dictionary, elements);
    try {
      const [{ rows }, counted] = await Promise.all([
        pool.query<{ id: string }>(page({ ...selection, columns: ['id'], sort, pageIndex: 1, pageSize: 1_000 })),
        pool.query<{ count: number }>(count(selection)),
      ]);
      assert.equal(counted.rows[0]?.count, rows.length);
    } catch (cause) {
      throw new Error(`${query} sorted by ${JSON.stringify(elements)}`, { cause });
    }
  };
  for (const element of sorts) for (const order of ['Asc', 'Desc'] as const) await answered(undefined, [{ element, order }]);
  for (const single of everyCondition(words)) await answered(single, []);
  await fc.assert(
    fc.asyncProperty(trees(conditions(words)), sortedBy, (tree, elements) => answered(tree, elements)),
    { numRuns: 300 },
  );
}

const sortNamesOf = ({ fields, sorts = {} }: Dictionary): readonly string[] => [
  ...Object.values(fields).flatMap(({ sortName }) => (sortName === undefined ? [] : [sortName])),
  ...Object.keys(sorts),
];

const texty = ['x', '', "'; drop table x; --", '%_\\', 'é\u{1f600}'];
const samples: Readonly<Record<FieldKind, readonly Test[]>> = {
  string: [
    { kind: 'exists' },
    { kind: 'text', operator: 'equals', values: ['x'] },
    { kind: 'text', operator: 'contains', values: ['%_\\'] },
    { kind: 'text', operator: 'matches', values: ['^(a|b)+$'] },
    { kind: 'text', operator: 'in', values: texty },
    { kind: 'text', operator: 'within', values: ['^x', '[0-9]{2}', ''] },
  ],
  id: [{ kind: 'exists' }, { kind: 'text', operator: 'equals', values: ['not an id'] }, { kind: 'text', operator: 'in', values: texty }],
  number: [
    { kind: 'exists' },
    { kind: 'number', operator: 'equals', values: [Number.MAX_SAFE_INTEGER] },
    { kind: 'number', operator: 'in', values: [0, -1, Number.MIN_SAFE_INTEGER] },
  ],
  date: [
    { kind: 'exists' },
    { kind: 'date', operator: 'before', instant: { date: '9999-12-31T23:59:59' } },
    { kind: 'date', operator: 'after', instant: { date: '0000' } },
    { kind: 'date', operator: 'equals', instant: 'today' },
    { kind: 'date', operator: 'before', instant: 'now' },
    { kind: 'date', operator: 'after', instant: { amount: -104_249_991, unit: 'd' } },
    { kind: 'date', operator: 'equals', instant: { amount: 104_249_991, unit: 'd' } },
  ],
  grade: [
    { kind: 'exists' },
    ...(['equals', 'lower than', 'greater than', 'strictly lower than', 'strictly greater than'] as const).flatMap((operator) =>
      grades.map((grade) => ({ kind: 'grade', operator, grade }) as const),
    ),
  ],
};

const everyCondition = ({ special, ...words }: Words): readonly Condition[] =>
  [false, true].flatMap((not) => [
    ...special.map(([field, verb, value]) => ({ field, not, kind: 'special', verb, value }) as const),
    ...(Object.keys(words) as FieldKind[]).flatMap((kind) =>
      words[kind].flatMap((field) => samples[kind].map((test) => ({ field, not, ...test }))),
    ),
  ]);
