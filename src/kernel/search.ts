/** Searches as they are declared: what can be asked, where it stands, and the body of a search. No SQL; storage/search.ts compiles it. */
import { z } from 'zod';
import type { FieldKind, Verb, Vocabulary } from '../lib/query/tree.ts';

/**
 * A searchable table, declared once: checks queries, answers the search dictionary, names columns for CSV and aggregates, is compiled to SQL.
 * Column types by kind: string, id and grade `text`, number `integer` or `bigint`, date `bigint` (milliseconds since 1970).
 */
export interface Dictionary {
  /** By query name (`valid.from`). */
  readonly fields: Readonly<Record<string, Field>>;
  /** By what stands before the first dot (`label` in `label.site`). */
  readonly families?: Readonly<Record<string, Family>>;
  /** By subject (`certificate` in `certificate is archived`). */
  readonly specials?: Readonly<Record<string, SpecialField>>;
  /** Columns that sort under an API name and cannot be asked: API name → column. */
  readonly sorts?: Readonly<Record<string, string>>;
}

export interface Field {
  readonly kind: FieldKind;
  readonly column: string;
  /** An array column (`text[]`, `bigint[]`): one element that satisfies a condition suffices. */
  readonly multi?: true;
  /** API name under which results can be sorted. */
  readonly sortName?: string;
}

/** Fields with a free last part, kept in one jsonb object of strings: `label.site` is the member `site` of the column `labels`. */
export interface Family {
  readonly kind: 'string' | 'grade';
  readonly column: string;
  /** The members that can be asked: a closed list, or what their names look like. */
  readonly keys: readonly string[] | RegExp;
}

export interface SpecialField {
  readonly verb: Verb;
  readonly values: Readonly<Record<string, Meaning>>;
}

/** What a special condition stands for: a query in the same language, or a column with a certain value. */
export type Meaning = string | (Pick<Field, 'column' | 'multi'> & { readonly equals: string | true });

/** Where a field's value stands: a column, an array column or a member of a jsonb object. */
export interface Place extends Pick<Field, 'column' | 'multi'> {
  readonly kind: FieldKind;
  readonly member?: string;
}

/** The place of a field by its full query name; undefined for an unknown one. */
export function findPlace(dictionary: Dictionary, name: string): Place | undefined {
  const field = own(dictionary.fields, name);
  if (field !== undefined) return field;
  const dot = name.indexOf('.');
  const family = own(dictionary.families, name.slice(0, Math.max(dot, 0)));
  const member = name.slice(dot + 1);
  if (family === undefined || !hasKey(family.keys, member)) return undefined;
  return { kind: family.kind, column: family.column, member };
}

function hasKey(keys: readonly string[] | RegExp, member: string): boolean {
  return keys instanceof RegExp ? keys.test(member) : keys.includes(member);
}

/** What lib/query asks of a language. */
export function vocabularyOf(dictionary: Dictionary): Vocabulary {
  return {
    kindOf: (name) => findPlace(dictionary, name)?.kind,
    specialOf: (subject) => {
      const special = own(dictionary.specials, subject);
      return special && { verb: special.verb, values: Object.keys(special.values) };
    },
  };
}

/** A name that a caller sent is looked up among what was declared, never among what objects inherit. */
function own<Value>(record: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

// The body of a search

const sortElement = z.object({ element: z.string(), order: z.enum(['Asc', 'Desc', 'KeyAsc', 'KeyDesc']) });
export type SortElement = Readonly<z.infer<typeof sortElement>>;

/** Results in one answer: it is made in memory. Whoever asks for more gets the first of them, and `hasMore`. */
const pageSizeMax = 10_000;

/** Schemas `EventSearchQuery` and, with `fields`, `CertificateSearchQuery`; `RequestSearchQuery` adds its `scope`. */
export const searchQuery = z.object({
  query: z.string().optional(),
  sortedBy: z.array(sortElement).optional(),
  pageIndex: z
    .int()
    .default(1)
    .overwrite((index) => Math.max(1, index)),
  pageSize: z
    .int()
    .min(1)
    .default(50)
    .overwrite((size) => Math.min(size, pageSizeMax)),
  withCount: z.boolean().default(false),
});

export const fieldSearchQuery = searchQuery.extend({ fields: z.array(z.string()).optional() });

/** A sort element that is unknown or named twice. */
export class SortError extends Error {
  readonly element: string;
  constructor(element: string, reason: string) {
    super(`sort element '${element}' ${reason}`);
    this.name = 'SortError';
    this.element = element;
  }
}

export interface Sort {
  readonly column: string;
  readonly descending: boolean;
}

/** The columns of `sortedBy`, by API name. Throws SortError. */
export function sortColumns(dictionary: Dictionary, sortedBy: readonly SortElement[] = []): readonly Sort[] {
  const asked = Object.values(dictionary.fields).map(({ sortName, column }) => [sortName, column] as const);
  const columns = new Map<string | undefined, string>([...asked, ...Object.entries(dictionary.sorts ?? {})]);
  const seen = new Set<string>();
  return sortedBy.map(({ element, order }) => {
    const column = columns.get(element);
    if (column === undefined) throw new SortError(element, 'is unknown');
    if (seen.has(element)) throw new SortError(element, 'stands twice');
    seen.add(element);
    return { column, descending: order === 'Desc' || order === 'KeyDesc' };
  });
}
