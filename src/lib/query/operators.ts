/** What may follow a field, by its kind: the operators, how they are spelt, and what each of them reads. */
import { absolute, relative } from './instant.ts';
import { portable } from './pattern.ts';
import { accept, countTerm, fail, peek, type Reader, take } from './reader.ts';
import { type FieldKind, type Grade, type GradeOperator, grades, type Instant, type Test, type TextOperator } from './tree.ts';

export interface Operator {
  readonly spellings: readonly string[];
  read(reader: Reader): Test;
}

const textual = (operator: TextOperator, spellings: readonly string[], read: (reader: Reader) => readonly string[]): Operator => ({
  spellings,
  read: (reader) => ({ kind: 'text', operator, values: read(reader) }),
});
const numeric = (operator: 'equals' | 'in', spellings: readonly string[], read: (reader: Reader) => readonly number[]): Operator => ({
  spellings,
  read: (reader) => ({ kind: 'number', operator, values: read(reader) }),
});
const dated = (operator: 'equals' | 'before' | 'after', symbol: string): Operator => ({
  spellings: [operator, symbol],
  read: (reader) => ({ kind: 'date', operator, instant: instant(reader) }),
});
const graded = (operator: GradeOperator, symbol: string): Operator => ({
  spellings: [operator, symbol],
  read: (reader) => ({ kind: 'grade', operator, grade: grade(reader) }),
});

const exists: Operator = { spellings: ['exists'], read: () => ({ kind: 'exists' }) };
const equalsText = textual('equals', ['equals', '='], one(text));
const inTexts = textual('in', ['in'], list(text));

export const operators: Readonly<Record<FieldKind, readonly Operator[]>> = {
  string: [
    equalsText,
    textual('contains', ['contains'], one(text)),
    textual('matches', ['matches'], one(pattern)),
    inTexts,
    textual('within', ['within'], list(pattern)),
    exists,
  ],
  id: [equalsText, inTexts, exists],
  number: [numeric('equals', ['equals', '='], one(integer)), numeric('in', ['in'], list(integer)), exists],
  date: [dated('before', '<'), dated('after', '>'), dated('equals', '='), exists],
  grade: [
    graded('equals', '='),
    graded('lower than', '<='),
    graded('greater than', '>='),
    graded('strictly lower than', '<'),
    graded('strictly greater than', '>'),
    exists,
  ],
};

function text(reader: Reader): string {
  return peek(reader).kind === 'text' ? take(reader).value : fail(reader, 'a text in double quotes');
}

function pattern(reader: Reader): string {
  const { position } = peek(reader);
  const source = text(reader);
  portable(source, position);
  return source;
}

function integer(reader: Reader): number {
  const { kind, value } = peek(reader);
  if (kind !== 'integer' || !Number.isSafeInteger(Number(value))) fail(reader, 'an integer');
  return Number(take(reader).value) + 0;
}

function grade(reader: Reader): Grade {
  const { kind, value } = peek(reader);
  const letter = kind === 'word' || kind === 'text' ? grades.find((candidate) => candidate === value) : undefined;
  if (letter === undefined) return fail(reader, `a grade (${grades.join(', ')})`);
  take(reader);
  return letter;
}

function instant(reader: Reader): Instant {
  if (accept(reader, 'now')) return 'now';
  if (accept(reader, 'today')) return 'today';
  const { kind, value } = peek(reader);
  if (kind === 'integer') return span(reader);
  const date = kind === 'text' ? absolute(value) : undefined;
  if (date === undefined) return fail(reader, 'a date ("2026-01-31", "2026-01-31T12:00"), now, today or a span (30d, -12h, 5m, 10s)');
  take(reader);
  return date;
}

function span(reader: Reader): Instant {
  const amount = take(reader).value;
  const { kind, value } = peek(reader);
  const read = kind === 'word' ? relative(amount, value) : undefined;
  if (read === undefined) return fail(reader, 'a unit (d, h, m, s) that keeps the span within reach');
  take(reader);
  return read;
}

function one<Value>(read: (reader: Reader) => Value): (reader: Reader) => readonly Value[] {
  return (reader) => [read(reader)];
}

/** One value or more in square brackets; round ones are tolerated. */
function list<Value>(read: (reader: Reader) => Value): (reader: Reader) => readonly Value[] {
  return (reader) => {
    const close = accept(reader, '[') ? ']' : accept(reader, '(') ? ')' : fail(reader, "'['");
    const values = [read(reader)];
    while (accept(reader, ',')) {
      countTerm(reader);
      values.push(read(reader));
    }
    if (!accept(reader, close)) fail(reader, `',' or '${close}'`);
    return values;
  };
}
