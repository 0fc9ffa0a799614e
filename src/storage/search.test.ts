import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pg from 'pg';
import { searchConformance } from '../../test/conformance/search.ts';
import { createDatabase } from '../../test/support/database.ts';
import { type Dictionary, vocabularyOf } from '../kernel/search.ts';
import { parse } from '../lib/query/parse.ts';
import { compile, count, cut, page } from './search.ts';
import { sql, statement, type Value } from './sql.ts';

const now = Date.parse('2026-02-03T04:05:06Z');
const day = 86_400_000;

const dictionary: Dictionary = {
  fields: {
    dn: { kind: 'string', column: 'dn' },
    san: { kind: 'string', column: 'sans', multi: true },
    port: { kind: 'number', column: 'port' },
    'valid.until': { kind: 'date', column: 'not_after' },
    grade: { kind: 'grade', column: 'grades', multi: true },
  },
  families: { label: { kind: 'string', column: 'labels', keys: /^\w+$/ } },
  specials: {
    status: { verb: 'is', values: { expired: 'valid.until before now' } },
    certificate: { verb: 'is', values: { archived: { column: 'archived', equals: true } } },
    'trigger.results': { verb: 'has', values: { success: { column: 'results', multi: true, equals: 'success' } } },
  },
};
const condition = (query: string) => compile(parse(query, vocabularyOf(dictionary)), dictionary, now);

describe('compile', () => {
  const compiled: readonly (readonly [query: string, text: string, ...values: readonly Value[]])[] = [
    ['', 'true'],
    ['dn equals "x\' or true --"', '"dn" = any($1::text[])', ["x' or true --"]],
    ['dn not in ["a", "b"]', '("dn" = any($1::text[])) is not true', ['a', 'b']],
    ['dn contains "5%_\\\\"', '"dn" ilike $1', '%5\\%\\_\\\\%'],
    ['dn matches "^\\d"', '"dn" ~* $1', '^[0-9]'],
    ['dn within ["a", "(b)"]', '"dn" ~* any($1::text[])', ['a', '(?:b)']],
    ['dn not exists', '("dn" is not null) is not true'],
    ['san = "a"', '"sans" && $1::text[]', ['a']],
    ['san contains "a"', 'exists (select from unnest("sans") as item where item ilike $1)', '%a%'],
    ['san exists', 'cardinality("sans") > 0'],
    ['port in [443, 8443]', '"port" = any($1::bigint[])', [443, 8443]],
    ['label.site = "a\\"b"', '"labels" @> any($1::jsonb[])', ['{"site":"a\\"b"}']],
    ['label.site matches "a"', '("labels" ->> $1) ~* $2', 'site', 'a'],
    ['valid.until before 30d', '"not_after" < $1::bigint', now + 30 * day],
    ['valid.until > "2026"', '"not_after" >= $1::bigint', Date.UTC(2026)],
    ['valid.until = "2026"', '"not_after" >= $1::bigint and "not_after" < $2::bigint', Date.UTC(2026), Date.UTC(2027)],
    ['grade lower than C', '"grades" && $1::text[]', ['C', 'D', 'E']],
    ['grade > A', '"grades" && $1::text[]', []],
    ['status is not expired', '("not_after" < $1::bigint) is not true', now],
    ['certificate is archived', '"archived" = $1', true],
    ['trigger.results has no success', '($1 = any("results")) is not true', 'success'],
    ['dn exists or dn = "a" and port = 1', '("dn" is not null or ("dn" = any($1::text[]) and "port" = any($2::bigint[])))', ['a'], [1]],
  ];
  for (const [query, text, ...values] of compiled) {
    it(query, () => assert.deepEqual(statement(condition(query)), { text, values }));
  }
});

describe('page', () => {
  const selection = { from: 'certificates', where: [condition('dn = "a"'), sql`owner = ${'me'} or team = any(${['x']})`] };
  const where = 'from "certificates" where true and ("dn" = any($1::text[])) and (owner = $2 or team = any($3))';
  const asked = { ...selection, columns: ['id', 'dn'], pageIndex: 3, pageSize: 20 };

  it('reads one row more, in a total order', () => {
    assert.deepEqual(page({ ...asked, sort: [{ column: 'dn', descending: true }] }), {
      text: `select "id", "dn" ${where} order by "dn" desc, "id" desc limit $4 offset $5`,
      values: [['a'], 'me', ['x'], 21, 40],
    });
    assert.match(page({ ...asked, sort: [] }).text, /order by "id" limit/);
    assert.match(page({ ...asked, sort: [{ column: 'id', descending: true }] }).text, /order by "id" desc limit/);
  });

  it('stays within what the database can count', () => {
    const { values } = page({ ...asked, sort: [], pageIndex: Number.MAX_SAFE_INTEGER, pageSize: Number.MAX_SAFE_INTEGER });
    assert.deepEqual(values.slice(3), [2 ** 53, Number.MAX_SAFE_INTEGER]);
  });

  it('knows whether another page follows', () => {
    assert.deepEqual(cut([1, 2, 3], 2), { results: [1, 2], hasMore: true });
    assert.deepEqual(cut([1, 2], 2), { results: [1, 2], hasMore: false });
  });

  it('counts over all pages', () => {
    assert.deepEqual(count(selection), { text: `select count(*)::integer as count ${where}`, values: [['a'], 'me', ['x']] });
  });
});

it('what is compiled finds what a plain reading of the query finds', async () => {
  const { url, drop } = await createDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  await searchConformance(pool);
  await pool.end();
  await drop();
});
