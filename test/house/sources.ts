/** The source files as the house tests read them: the code without comments and the contents of strings, and what it imports. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

export interface Source {
  /** From the root of the repository: `src/kernel/action.ts`. */
  readonly path: string;
  readonly text: string;
}

/** The TypeScript files below a folder, sorted. */
export const sourcesIn = (folder: string): readonly Source[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), 'utf8') }));

/** What the program consists of: `src` without its tests and their fixtures. */
export const programSources = (): readonly Source[] => sourcesIn('src').filter(({ path }) => !/\.test\.ts$|\/fixtures\//.test(path));

const token =
  /(?<comment>\/\/.*|\/\*[\s\S]*?\*\/)|(?<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|(?<kept>`(?:\\.|[^`\\])*`|(?<=[(,=:[!&|?{};>]\s*|\breturn\s+)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*)/g;

/** Comments gone, strings emptied; templates stay, they may hold code. */
export const codeOf = (text: string): string =>
  text.replace(token, (whole, ...rest) => {
    const { comment, text: string } = rest.at(-1) as Record<string, string | undefined>;
    return comment !== undefined ? ' ' : string !== undefined ? "''" : whole;
  });

export interface Import {
  /** A file from the root of the repository, `node:…`, or the name of a package. */
  readonly target: string;
  /** What is taken: names, `* as x`, or nothing. Types alone are left out. */
  readonly names: readonly string[];
}

const statement =
  /(?:^|\n)\s*(?:import|export)\b(?<clause>[^;'"`]*?)\bfrom\s*'(?<from>[^']+)'|(?:^|\n)\s*import\s*'(?<bare>[^']+)'|\bimport\(\s*'(?<dynamic>[^']+)'\s*\)/g;

export function importsOf({ path, text }: Source): readonly Import[] {
  return [...text.matchAll(statement)].map(({ groups }) => {
    const from = (groups?.['from'] ?? groups?.['bare'] ?? groups?.['dynamic'])!;
    return { target: targetOf(path, from), names: namesIn(groups?.['clause'] ?? '* as dynamic') };
  });
}

function targetOf(path: string, from: string): string {
  if (from.startsWith('.')) return join(dirname(path), from);
  if (from.startsWith('node:')) return from;
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');
}

function namesIn(clause: string): readonly string[] {
  if (/^\s*type\s/.test(clause)) return [];
  const names = /\{([^}]*)\}/.exec(clause)?.[1]?.split(',') ?? [];
  const whole = clause.replace(/\{[^}]*\}/, '').split(',');
  return [...names, ...whole].map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type '));
}
