/** Query text → tokens. Knows how words, numbers, texts and symbols are spelt, and nothing of what they mean. */
import { QueryError } from './error.ts';

export interface Token {
  readonly kind: 'word' | 'integer' | 'text' | 'symbol' | 'end';
  /** As written; of a text, what stands between the quotes with its escapes undone. */
  readonly value: string;
  readonly position: number;
}

const token =
  /(?<word>[A-Za-z][0-9A-Za-z._-]*)|(?<integer>-?[0-9]+)|(?<text>"[^"\\]*(?:\\[\s\S][^"\\]*)*")|(?<symbol>&&|\|\||<=|>=|[&|=<>()[\],!])/y;
const space = /\s*/y;

/** The tokens of a query, closed by one of kind `end`. Throws QueryError where a character can begin no token. */
export function lex(query: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let position = skip(query, 0); position < query.length; position = skip(query, token.lastIndex)) {
    tokens.push(read(query, position));
  }
  return [...tokens, { kind: 'end', value: '', position: query.length }];
}

function skip(query: string, from: number): number {
  space.lastIndex = from;
  space.test(query);
  return space.lastIndex;
}

function read(query: string, position: number): Token {
  token.lastIndex = position;
  const groups = token.exec(query)?.groups;
  if (groups?.['text'] !== undefined) return { kind: 'text', value: unquote(groups['text'], position), position };
  if (groups?.['word'] !== undefined) return { kind: 'word', value: groups['word'], position };
  if (groups?.['integer'] !== undefined) return { kind: 'integer', value: groups['integer'], position };
  if (groups?.['symbol'] !== undefined) return { kind: 'symbol', value: groups['symbol'], position };
  if (query[position] === '"') throw new QueryError(query.length, `'"' to close the text that begins at ${position}`, 'the end');
  throw new QueryError(
    position,
    'a word, a number, a text in double quotes or a symbol',
    `'${String.fromCodePoint(query.codePointAt(position)!)}'`,
  );
}

/** `\"` and `\\` lose their backslash; any other `\x` stays two characters, as regular expressions are often written. */
function unquote(quoted: string, position: number): string {
  const unstorable = quoted.isWellFormed() ? quoted.indexOf('\0') : quoted.search(/\p{Surrogate}/u);
  if (unstorable >= 0)
    throw new QueryError(position + unstorable, 'a character that a text can hold', 'U+0000 or half of a surrogate pair');
  return quoted.slice(1, -1).replace(/\\(["\\])/g, '$1');
}

export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
