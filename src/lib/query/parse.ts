/** Tokens → tree: the grammar of hcql, hrql, heql and hdql, which differ in their vocabulary alone. */
import { QueryError } from './error.ts';
import { lex } from './lex.ts';
import { operators } from './operators.ts';
import { accept, at, countTerm, defaultLimits, fail, type Limits, peek, type Reader, take } from './reader.ts';
import type { Condition, FieldKind, Special, Tree, Vocabulary } from './tree.ts';

/** The tree of a query; undefined, which filters nothing, for an absent or blank one. Throws QueryError. */
export function parse(query: string | undefined, vocabulary: Vocabulary, limits: Partial<Limits> = {}): Tree | undefined {
  if (query === undefined) return undefined;
  const bounds = { ...defaultLimits, ...limits };
  if (query.length > bounds.lengthMax)
    throw new QueryError(bounds.lengthMax, `the end (${bounds.lengthMax} characters are allowed)`, 'more');
  const reader: Reader = { tokens: lex(query), next: 0, terms: 0, vocabulary, limits: bounds };
  if (peek(reader).kind === 'end') return undefined;
  const tree = group(reader, 0);
  if (peek(reader).kind !== 'end') fail(reader, "'and', 'or' or the end");
  return tree;
}

function group(reader: Reader, depth: number): Tree {
  return series(reader, 'or', ['or', '||', '|'], () => series(reader, 'and', ['and', '&&', '&'], () => term(reader, depth)));
}

function series(reader: Reader, kind: 'and' | 'or', joints: readonly string[], read: () => Tree): Tree {
  const terms = [read()];
  while (joints.some((joint) => accept(reader, joint))) terms.push(read());
  return terms.length === 1 ? terms[0]! : { kind, terms };
}

function term(reader: Reader, depth: number): Tree {
  const { depthMax } = reader.limits;
  if (!at(reader, '(')) return condition(reader);
  if (depth === depthMax) fail(reader, `a field (parentheses nest ${depthMax} deep at most)`);
  take(reader);
  const tree = group(reader, depth + 1);
  if (!accept(reader, ')')) fail(reader, "'and', 'or' or ')'");
  return tree;
}

function condition(reader: Reader): Condition {
  if (peek(reader).kind !== 'word') return fail(reader, at(reader, '!') ? notBehind : "a field or '('");
  const field = peek(reader).value;
  const special = reader.vocabulary.specialOf(field);
  if (special !== undefined) return specialCondition(reader, special);
  const kind = reader.vocabulary.kindOf(field);
  if (kind === undefined) return fail(reader, field === 'not' ? notBehind : "a field or '('");
  return fieldCondition(reader, kind);
}

const notBehind = "a field ('not' stands behind it, before the operator)";

function fieldCondition(reader: Reader, kind: FieldKind): Condition {
  countTerm(reader);
  const field = take(reader).value;
  const not = accept(reader, 'not');
  const operator = operators[kind].find(({ spellings }) => spellings.some((spelling) => accept(reader, spelling)));
  if (operator !== undefined) return { field, not, ...operator.read(reader) };
  return fail(reader, `an operator of '${field}' (${operators[kind].map(({ spellings }) => spellings[0]).join(', ')})`);
}

function specialCondition(reader: Reader, { verb, values }: Special): Condition {
  countTerm(reader);
  const field = take(reader).value;
  if (!accept(reader, verb)) fail(reader, `'${verb}'`);
  const not = accept(reader, verb === 'is' ? 'not' : 'no');
  const value = values.find((candidate) => accept(reader, candidate)) ?? fail(reader, `one of ${values.join(', ')}`);
  return { field, not, kind: 'special', verb, value };
}
