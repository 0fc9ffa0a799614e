/** What a query means: the tree that parse.ts reads, print.ts writes and storage/search.ts compiles. No SQL and no field names. */

/** Groups have two terms or more. Inside a group, `and` binds closer than `or`; negation stands on conditions only. */
export type Tree = Group | Condition;

export interface Group {
  readonly kind: 'and' | 'or';
  readonly terms: readonly Tree[];
}

export function isGroup(tree: Tree): tree is Group {
  return tree.kind === 'and' || tree.kind === 'or';
}

/** One question about one field. `not` asks for the complement: a record without the field satisfies it. */
export type Condition = { readonly field: string; readonly not: boolean } & Test;

export type Test =
  | { readonly kind: 'exists' }
  | { readonly kind: 'text'; readonly operator: TextOperator; readonly values: readonly string[] }
  | { readonly kind: 'number'; readonly operator: 'equals' | 'in'; readonly values: readonly number[] }
  | { readonly kind: 'date'; readonly operator: 'equals' | 'before' | 'after'; readonly instant: Instant }
  | { readonly kind: 'grade'; readonly operator: GradeOperator; readonly grade: Grade }
  | { readonly kind: 'special'; readonly verb: Verb; readonly value: string };

/** `in` and `within` hold one value or more, the others exactly one; the values of `matches` and `within` are regular expressions. */
export type TextOperator = 'equals' | 'contains' | 'matches' | 'in' | 'within';
export type GradeOperator = 'equals' | 'lower than' | 'greater than' | 'strictly lower than' | 'strictly greater than';

/** `status is valid`, `trigger.results has success`. */
export type Verb = 'is' | 'has';

/** From best to worst. */
export const grades = ['A', 'B', 'C', 'D', 'E'] as const;
export type Grade = (typeof grades)[number];

/** A point or a period in time, kept as it was asked: instant.ts turns it into milliseconds once `now` is known. */
export type Instant = 'now' | 'today' | { readonly amount: number; readonly unit: Unit } | { readonly date: string };
export type Unit = 'd' | 'h' | 'm' | 's';

export type FieldKind = 'string' | 'id' | 'number' | 'date' | 'grade';

/** All that a language says about its words; the grammar is the same for each. */
export interface Vocabulary {
  /** The kind of a field, by its full name (`dn`, `valid.from`, `label.site`), or undefined where there is no such field. */
  kindOf(field: string): FieldKind | undefined;
  /** The words that may follow a subject which is no field (`certificate is archived`). */
  specialOf(subject: string): Special | undefined;
}

export interface Special {
  readonly verb: Verb;
  readonly values: readonly string[];
}
