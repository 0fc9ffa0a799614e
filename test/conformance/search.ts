/**
 * Searches on a real database: the rows that a compiled query finds are those that a naive reading of the tree finds.
 * To be called with a pool; it works in a temporary table.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Pool, PoolClient } from 'pg';
import { RE2JS } from 're2js';
import { type Dictionary, vocabularyOf } from '../../src/kernel/search.ts';
import { conditions, integers, texts, trees } from '../../src/lib/query/fixtures/trees.ts';
import { resolve } from '../../src/lib/query/instant.ts';
import { parse } from '../../src/lib/query/parse.ts';
import { print } from '../../src/lib/query/print.ts';
import { type Condition, grades, isGroup, type Tree } from '../../src/lib/query/tree.ts';
import { compile, count, cut, page } from '../../src/storage/search.ts';
import { statement } from '../../src/storage/sql.ts';

const now = Date.parse('2026-02-03T04:05:06Z');

const dictionary: Dictionary = {
  fields: {
    id: { kind: 'id', column: 'id', sortName: '_id' },
    dn: { kind: 'string', column: 'dn' },
    san: { kind: 'string', column: 'sans', multi: true },
    port: { kind: 'number', column: 'port' },
    ports: { kind: 'number', column: 'ports', multi: true },
    'valid.until': { kind: 'date', column: 'valid_until', sortName: 'validUntil' },
    'seen.on': { kind: 'date', column: 'seen_on', multi: true },
    grade: { kind: 'grade', column: 'grades', multi: true },
    worst: { kind: 'grade', column: 'worst' },
  },
  families: {
    label: { kind: 'string', column: 'labels', keys: /^[0-9A-Za-z._-]+$/ },
    grade: { kind: 'grade', column: 'grade_by', keys: ['strict', 'lax'] },
  },
  specials: {
    status: {
      verb: 'is',
      values: {
        valid: 'valid.until after now and port not exists',
        revoked: 'valid.until after now and port exists',
        expired: 'valid.until before now',
      },
    },
    certificate: { verb: 'is', values: { archived: { column: 'archived', equals: true } } },
    certificatetype: { verb: 'is', values: { hybrid: { column: 'type', equals: 'hybrid' } } },
    'trigger.results': { verb: 'has', values: { success: { column: 'results', multi: true, equals: 'success' } } },
  },
};

const table = `create temporary table searched (
  id text primary key, dn text, sans text[], port integer, ports bigint[], valid_until bigint, seen_on bigint[],
  grades text[], worst text, labels jsonb, grade_by jsonb, archived boolean, type text, results text[]
)`;

const dates = fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2027-12-31') });
const maybe = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { freq: 4 });
const many = <Value>(values: fc.Arbitrary<Value>) => maybe(fc.array(values, { maxLength: 3 }));
const grade = fc.constantFrom(...grades);
const row = fc.record({
  id: texts,
  dn: maybe(texts),
  sans: many(texts),
  port: maybe(fc.integer({ min: 0, max: 5 })),
  ports: many(integers),
  valid_until: maybe(dates),
  seen_on: many(dates),
  grades: many(grade),
  worst: maybe(grade),
  labels: maybe(fc.record({ a: texts, 'b.c': texts }, { requiredKeys: [] })),
  grade_by: maybe(fc.record({ strict: grade, lax: grade }, { requiredKeys: [] })),
  archived: maybe(fc.boolean()),
  type: maybe(fc.constantFrom('hybrid', 'legacy')),
  results: many(fc.constantFrom('success', 'failure')),
});
type Row = typeof row extends fc.Arbitrary<infer Generated> ? Generated : never;

const tree = trees(
  conditions({
    string: ['dn', 'san', 'label.a', 'label.b.c', 'label.none'],
    id: ['id'],
    number: ['port', 'ports'],
    date: ['valid.until', 'seen.on'],
    grade: ['grade', 'worst', 'grade.strict', 'grade.lax'],
    special: [
      ['status', 'is', 'valid'],
      ['status', 'is', 'revoked'],
      ['status', 'is', 'expired'],
      ['certificate', 'is', 'archived'],
      ['certificatetype', 'is', 'hybrid'],
      ['trigger.results', 'has', 'success'],
    ],
  }),
);

// The naive reading

const places: Readonly<Record<string, (row: Row) => unknown>> = {
  id: (row) => row.id,
  dn: (row) => row.dn,
  san: (row) => row.sans,
  port: (row) => row.port,
  ports: (row) => row.ports,
  'valid.until': (row) => row.valid_until,
  'seen.on': (row) => row.seen_on,
  grade: (row) => row.grades,
  worst: (row) => row.worst,
  'label.a': (row) => row.labels?.a,
  'label.b.c': (row) => row.labels?.['b.c'],
  'label.none': () => undefined,
  'grade.strict': (row) => row.grade_by?.strict,
  'grade.lax': (row) => row.grade_by?.lax,
};

const meanings: Readonly<Record<string, (row: Row) => boolean>> = {
  valid: (row) => row.valid_until !== null && row.valid_until >= now && row.port === null,
  revoked: (row) => row.valid_until !== null && row.valid_until >= now && row.port !== null,
  expired: (row) => row.valid_until !== null && row.valid_until < now,
  archived: (row) => row.archived === true,
  hybrid: (row) => row.type === 'hybrid',
  success: (row) => row.results?.includes('success') ?? false,
};

function satisfies(row: Row, tree: Tree): boolean {
  if (isGroup(tree))
    return tree.kind === 'and' ? tree.terms.every((term) => satisfies(row, term)) : tree.terms.some((term) => satisfies(row, term));
  if (tree.kind === 'special') return meanings[tree.value]!(row) !== tree.not;
  const values = [places[tree.field]!(row) ?? []].flat();
  return values.some((value) => holds(tree, value)) !== tree.not;
}

function holds(condition: Condition, value: unknown): boolean {
  switch (condition.kind) {
    case 'exists':
      return true;
    case 'number':
      return condition.values.includes(value as number);
    case 'text':
      return condition.values.some((asked) => textHolds[condition.operator](value as string, asked));
    case 'date': {
      const { start, end } = resolve(condition.instant, now);
      const time = value as number;
      return { before: time < start, after: time >= start, equals: time >= start && time < end }[condition.operator];
    }
    case 'grade': {
      const worse = grades.indexOf(value as 'A') - grades.indexOf(condition.grade);
      return {
        equals: worse === 0,
        'lower than': worse >= 0,
        'greater than': worse <= 0,
        'strictly lower than': worse > 0,
        'strictly greater than': worse < 0,
      }[condition.operator];
    }
    case 'special':
      return assert.fail();
  }
}

const equals = (value: string, asked: string) => value === asked;
const matches = (value: string, asked: string) =>
  RE2JS.compile(asked, RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL)
    .matcher(value)
    .find();
const contains = (value: string, asked: string) => value.toLowerCase().includes(asked.toLowerCase());
const textHolds = { equals, in: equals, contains, matches, within: matches };

// The suite

/** Rejects with the first counterexample. */
export async function searchConformance(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(table);
    const rows = fc.uniqueArray(row, { selector: ({ id }) => id, maxLength: 24 });
    const property = fc.asyncProperty(rows, fc.array(tree, { minLength: 25, maxLength: 25 }), async (rows, trees) => {
      await fill(client, rows);
      for (const tree of trees) await agrees(client, rows, tree);
      await pages(client, rows);
    });
    await fc.assert(property, { numRuns: 60 });
  } finally {
    await client.query('drop table if exists searched');
    client.release();
  }
}

async function fill(client: PoolClient, rows: readonly Row[]): Promise<void> {
  await client.query('truncate searched');
  await client.query('insert into searched select * from jsonb_populate_recordset(null::searched, $1)', [JSON.stringify(rows)]);
}

/** The tree goes through its text, so that what is compiled is what a caller can send. */
async function agrees(client: PoolClient, rows: readonly Row[], tree: Tree): Promise<void> {
  const query = print(tree);
  const { text, values } = statement(compile(parse(query, vocabularyOf(dictionary)), dictionary, now));
  const found = await client.query<{ id: string }>(`select id from searched where ${text}`, values);
  const expected = rows.filter((row) => satisfies(row, tree)).map(({ id }) => id);
  assert.deepEqual(new Set(found.rows.map(({ id }) => id)), new Set(expected), query);
}

/** Page by page, every row comes once and in order. */
async function pages(client: PoolClient, rows: readonly Row[]): Promise<void> {
  const selection = { from: 'searched', where: [compile(undefined, dictionary, now)] };
  const whole = { ...selection, columns: ['id', 'valid_until'], sort: [{ column: 'valid_until', descending: true }], pageSize: 5 };
  const seen: { readonly id: string; readonly valid_until: string | null }[] = [];
  for (let pageIndex = 1, more = true; more; pageIndex += 1) {
    const { rows: read } = await client.query(page({ ...whole, pageIndex }));
    const { results, hasMore } = cut(read, whole.pageSize);
    seen.push(...results);
    more = hasMore;
  }
  const times = seen.map((row) => (row.valid_until === null ? Number.POSITIVE_INFINITY : Number(row.valid_until)));
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a || 0),
  );
  assert.deepEqual(new Set(seen.map(({ id }) => id)), new Set(rows.map(({ id }) => id)));
  assert.equal(seen.length, rows.length);
  const counted = await client.query<{ count: number }>(count(selection));
  assert.equal(counted.rows[0]?.count, rows.length);
}
