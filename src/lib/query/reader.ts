/** A place in a list of tokens, with what has been spent of the limits: what the grammar (parse.ts) and the operators read from. */
import { QueryError } from './error.ts';
import { quote, type Token } from './lex.ts';
import type { Vocabulary } from './tree.ts';

export interface Limits {
  /** How deep parentheses may nest. */
  readonly depthMax: number;
  /** Conditions, each value of a list counted. */
  readonly termsMax: number;
  /** UTF-16 units. */
  readonly lengthMax: number;
}

export const defaultLimits: Limits = { depthMax: 5, termsMax: 1_000, lengthMax: 65_536 };

export interface Reader {
  readonly tokens: readonly Token[];
  next: number;
  terms: number;
  readonly vocabulary: Vocabulary;
  readonly limits: Limits;
}

export const peek = (reader: Reader): Token => reader.tokens[reader.next]!;
export const take = (reader: Reader): Token => reader.tokens[reader.next++]!;

/** Whether a keyword or symbol stands here; a text in quotes is neither. */
export function at(reader: Reader, spelling: string): boolean {
  const { kind, value } = peek(reader);
  return (kind === 'word' || kind === 'symbol') && value === spelling;
}

/** Takes a spelling of one word or several (`strictly lower than`), all or nothing. */
export function accept(reader: Reader, spelling: string): boolean {
  const start = reader.next;
  const complete = spelling.split(' ').every((word) => at(reader, word) && take(reader));
  if (!complete) reader.next = start;
  return complete;
}

export function countTerm(reader: Reader): void {
  const { termsMax } = reader.limits;
  reader.terms += 1;
  if (reader.terms > termsMax) fail(reader, `the end (${termsMax} terms are allowed)`);
}

export function fail(reader: Reader, expected: string): never {
  const { kind, value, position } = peek(reader);
  const shown = value.length > 40 ? `${value.slice(0, 40)}…` : value;
  throw new QueryError(position, expected, kind === 'end' ? 'the end' : kind === 'text' ? quote(shown) : `'${shown}'`);
}
