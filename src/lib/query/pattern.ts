/**
 * Regular expressions of callers: the part of the language that RE2 and PostgreSQL read alike, and nothing beyond it.
 * `.` matches a newline, `^` and `$` the ends of the text, letters in either case, anywhere in the text.
 */
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import { QueryError } from './error.ts';

const lengthMax = 1_000;
const repeatMax = 255;
/** PostgreSQL takes time by the cube of what may be empty and is repeated by a bound, `((a?){30}){30}`: such steps are dear. */
const groupWeight = 4;
/** How many single-character steps an expression may come to once its bounded repetitions are written out. */
const sizeMax = 1_000;

const escaped = String.raw`\\[tnrfv !-/:-@[-\u0060{-~]`;
const inClass = String.raw`(?:${escaped}|[^\[\]\\\-])`;
const classOf = String.raw`\[\^?(?=[^\]])-?(?:\\[dws]|${inClass}(?:-${inClass})?)*-?\]`;
const token = new RegExp(
  [
    String.raw`(?<open>\((?:\?:)?(?!\?))`,
    String.raw`(?<close>\))`,
    '(?<edge>[|^$])',
    String.raw`(?<repeat>[*+?]\??|\{(?<min>\d{1,3})(?:,(?<max>\d{0,3}))?\}\??)`,
    `(?<class>${classOf})`,
    String.raw`(?<atom>\\[dwsDWS]|${escaped}|[^\\()[\]{}|*+?^$])`,
  ].join('|'),
  'uy',
);

/** What the shorthands stand for, written out: what PostgreSQL takes them for depends on its locale. */
const shorthands: Readonly<Record<string, string>> = { d: '0-9', w: '0-9A-Za-z_', s: String.raw`\t\n\f\r ` };

/**
 * The expression, spelt so that both engines read it alike. Throws QueryError, at `position`, for one that is too long or too large, that is no
 * regular expression, or that uses a construct outside the shared part: look-around, back-references, flags, `\b`, `\p{…}`, POSIX classes.
 */
export function portable(pattern: string, position = 0): string {
  const refuse = (found: string): never => {
    throw new QueryError(position, 'a regular expression', found);
  };
  if (pattern.length > lengthMax) return refuse(`one of ${pattern.length} characters (${lengthMax} are allowed)`);
  const spelt = spell(pattern, (offset) =>
    refuse(`'${pattern.slice(offset, offset + 8)}' at its character ${offset}, which is not supported there`),
  );
  if (spelt.size > sizeMax) return refuse('one whose repetitions are too large');
  try {
    RE2JS.compile(spelt.text, RE2JS.CASE_INSENSITIVE | RE2JS.DOTALL);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return refuse(`one that cannot be read: ${error instanceof RE2JSSyntaxException ? error.getDescription() : error.message}`);
  }
  return spelt.text;
}

/** Reads token by token: iterative, so that no nesting overflows. */
function spell(pattern: string, fail: (offset: number) => never): { readonly text: string; readonly size: number } {
  const outer: number[] = [];
  let size = 0;
  let repeatable = 0;
  let text = '';
  for (let offset = 0; offset < pattern.length; offset = token.lastIndex) {
    token.lastIndex = offset;
    const found = token.exec(pattern)?.groups ?? fail(offset);
    if (found['repeat'] !== undefined) {
      const times = timesOf(found);
      if (repeatable === 0 || times > repeatMax) fail(offset);
      size += repeatable * (times - 1);
      repeatable = 0;
      text += found['repeat'];
    } else if (found['open'] !== undefined) {
      outer.push(size);
      size = repeatable = 0;
      text += '(?:';
    } else if (found['close'] !== undefined) {
      repeatable = groupWeight * Math.max(size, 1);
      size = Math.max(size, 1) + (outer.pop() ?? fail(offset));
      text += ')';
    } else if (found['edge'] !== undefined) {
      repeatable = 0;
      text += found['edge'];
    } else {
      repeatable = 1;
      size += 1;
      text += writeOut(found);
    }
  }
  return { text, size };
}

/** How often what is repeated is written out: `{2,}` is two and a loop. */
function timesOf({ min, max }: Record<string, string | undefined>): number {
  if (min === undefined) return 1;
  return Math.max(1, max === '' ? Number(min) + 1 : Number(max ?? min));
}

function writeOut({ class: written, atom }: Record<string, string | undefined>): string {
  if (written !== undefined) return written.replace(/\\([\s\S])/g, (pair, letter) => shorthands[letter] ?? pair);
  const letter = /^\\([dws])$/i.exec(atom!)?.[1];
  if (letter === undefined) return atom!;
  const set = shorthands[letter.toLowerCase()];
  return letter === letter.toLowerCase() ? `[${set}]` : `[^${set}]`;
}
