/** The one error of the query languages: where it stands, what could have stood there, what did. */

/** A query that cannot be read. `position` counts UTF-16 units from 0, in the text that was handed in. */
export class QueryError extends Error {
  readonly position: number;
  readonly expected: string;
  readonly found: string;

  constructor(position: number, expected: string, found: string) {
    super(`at ${position}: expected ${expected}, found ${found}`);
    this.name = 'QueryError';
    this.position = position;
    this.expected = expected;
    this.found = found;
  }
}
