/** A query's tree → an SQL condition, and the statements around it. The only translator; every value is bound. */
import type { Context, Reader } from '../kernel/context.ts';
import { queryErrors } from '../kernel/errors.ts';
import { type Dictionary, findPlace, type Meaning, type Place, type Sort, vocabularyOf } from '../kernel/search.ts';
import { QueryError } from '../lib/query/error.ts';
import { resolve } from '../lib/query/instant.ts';
import { parse } from '../lib/query/parse.ts';
import { portable } from '../lib/query/pattern.ts';
import { type Condition, type GradeOperator, grades, isGroup, type Tree } from '../lib/query/tree.ts';
import { identifier, join, type Sql, type Statement, sql, statement } from './sql.ts';

/** The rows that a tree asks for; all of them without a tree. `now` in milliseconds. The tree must have been parsed with this dictionary. */
export function compile(tree: Tree | undefined, dictionary: Dictionary, now: number): Sql {
  if (tree === undefined) return sql`true`;
  if (isGroup(tree)) {
    const terms = tree.terms.map((term) => compile(term, dictionary, now));
    return sql`(${join(terms, tree.kind === 'and' ? sql` and ` : sql` or `)})`;
  }
  const positive = test(tree, dictionary, now);
  // A null is neither true nor false: the complement holds for it too.
  return tree.not ? sql`(${positive}) is not true` : positive;
}

function test(condition: Condition, dictionary: Dictionary, now: number): Sql {
  if (condition.kind === 'special') {
    return special(dictionary.specials![condition.field]!.values[condition.value]!, dictionary, now);
  }
  const place = findPlace(dictionary, condition.field)!;
  switch (condition.kind) {
    case 'exists':
      return place.multi ? sql`cardinality(${expression(place)}) > 0` : sql`${expression(place)} is not null`;
    case 'number':
      return isOneOf(place, condition.values);
    case 'grade':
      return isOneOf(place, gradesOf(condition.operator, grades.indexOf(condition.grade)));
    case 'text':
      return textTest(place, condition);
    case 'date':
      return dateTest(place, condition, now);
  }
}

function special(meaning: Meaning, dictionary: Dictionary, now: number): Sql {
  if (typeof meaning === 'string') return compile(parse(meaning, vocabularyOf(dictionary)), dictionary, now);
  const column = identifier(meaning.column);
  return meaning.multi ? sql`${meaning.equals} = any(${column})` : sql`${column} = ${meaning.equals}`;
}

function textTest(place: Place, { operator, values }: Extract<Condition, { kind: 'text' }>): Sql {
  switch (operator) {
    case 'equals':
    case 'in':
      return isOneOf(place, values);
    case 'contains':
      return holds(place, (value) => sql`${value} ilike ${`%${values[0]!.replace(/[\\%_]/g, '\\$&')}%`}`);
    case 'matches':
      return holds(place, (value) => sql`${value} ~* ${portable(values[0]!)}`);
    case 'within':
      return holds(place, (value) => sql`${value} ~* any(${values.map((pattern) => portable(pattern))}::text[])`);
  }
}

function dateTest(place: Place, { operator, instant }: Extract<Condition, { kind: 'date' }>, now: number): Sql {
  const { start, end } = resolve(instant, now);
  switch (operator) {
    case 'before':
      return holds(place, (value) => sql`${value} < ${start}::bigint`);
    case 'after':
      return holds(place, (value) => sql`${value} >= ${start}::bigint`);
    case 'equals':
      return holds(place, (value) => sql`${value} >= ${start}::bigint and ${value} < ${end}::bigint`);
  }
}

/** Lower is worse, and worse stands later in the list. */
function gradesOf(operator: GradeOperator, rank: number): readonly string[] {
  switch (operator) {
    case 'equals':
      return [grades[rank]!];
    case 'lower than':
      return grades.slice(rank);
    case 'strictly lower than':
      return grades.slice(rank + 1);
    case 'greater than':
      return grades.slice(0, rank + 1);
    case 'strictly greater than':
      return grades.slice(0, rank);
  }
}

/** Equality, in the form that an index on the column can answer: B-tree for a value, GIN for an array or an object. */
function isOneOf(place: Place, values: readonly string[] | readonly number[]): Sql {
  const column = identifier(place.column);
  if (place.member !== undefined) {
    const objects = values.map((value) => JSON.stringify({ [place.member!]: value }));
    return sql`${column} @> any(${objects}::jsonb[])`;
  }
  const list = place.kind === 'number' ? sql`${values}::bigint[]` : sql`${values}::text[]`;
  return place.multi ? sql`${column} && ${list}` : sql`${column} = any(${list})`;
}

/** A test of the value or, in an array, of one element at least. */
function holds(place: Place, test: (value: Sql) => Sql): Sql {
  if (!place.multi) return test(expression(place));
  return sql`exists (select from unnest(${expression(place)}) as item where ${test(sql`item`)})`;
}

function expression({ column, member }: Place): Sql {
  return member === undefined ? identifier(column) : sql`(${identifier(column)} ->> ${member})`;
}

// Statements

export interface Selection {
  /** Table or view, with a column `id`. */
  readonly from: string;
  /** The query's condition, and what the caller may see. */
  readonly where: readonly Sql[];
}

export interface PageSelection extends Selection {
  readonly columns: readonly string[];
  readonly sort: readonly Sort[];
  /** From 1. */
  readonly pageIndex: number;
  readonly pageSize: number;
}

/** One page and one row more, by which `cut` knows whether another page follows. */
export function page({ columns, sort, pageIndex, pageSize, ...selection }: PageSelection): Statement {
  const selected = join(columns.map(identifier), sql`, `);
  const offset = Math.min((pageIndex - 1) * pageSize, Number.MAX_SAFE_INTEGER);
  return statement(sql`select ${selected} ${source(selection)} order by ${order(sort)} limit ${pageSize + 1} offset ${offset}`);
}

export function cut<Row>(rows: readonly Row[], pageSize: number): { readonly results: readonly Row[]; readonly hasMore: boolean } {
  return { results: rows.slice(0, pageSize), hasMore: rows.length > pageSize };
}

/** How many rows there are over all pages, as `count`. */
export function count(selection: Selection): Statement {
  return statement(sql`select count(*)::integer as count ${source(selection)}`);
}

/** The condition of a caller's query. Throws `HQL-001`. */
export function conditionOf(
  query: string | undefined,
  dictionary: Dictionary,
  { now, queryDepthMax }: Pick<Context, 'now' | 'queryDepthMax'>,
): Sql {
  try {
    return compile(parse(query, vocabularyOf(dictionary), { depthMax: queryDepthMax }), dictionary, now());
  } catch (error) {
    throw error instanceof QueryError ? queryErrors.invalid(error.message) : error;
  }
}

/** One page of rows with what an answer says about it; they are counted when that is asked for. */
export async function readPage<Row>(database: Reader, selection: PageSelection, withCount: boolean | undefined) {
  const { pageIndex, pageSize } = selection;
  const [rows, counted] = await Promise.all([
    database.rows<Row>(page(selection)),
    withCount ? database.rows<{ readonly count: number }>(count(selection)) : [],
  ]);
  return { ...cut(rows, pageSize), pageIndex, pageSize, ...counted[0] };
}

function source({ from, where }: Selection): Sql {
  return sql`from ${identifier(from)} where ${join([sql`true`, ...where.map((condition) => sql`(${condition})`)], sql` and `)}`;
}

/** Total, by the id at the end; in the direction of what precedes it, so that one index serves forwards and backwards. */
function order(sort: readonly Sort[]): Sql {
  const hasId = sort.some(({ column }) => column === 'id');
  const total = hasId ? sort : [...sort, { column: 'id', descending: sort.at(-1)?.descending ?? false }];
  return join(
    total.map(({ column, descending }) => (descending ? sql`${identifier(column)} desc` : identifier(column))),
    sql`, `,
  );
}
