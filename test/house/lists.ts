/** The lists of exceptions beside the house tests: one a line, ` # ` and the reason after it. An exception that is no longer true is an error. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What each line says before its reason. Throws for a line without a reason, unless none is asked for, and for a line that stands twice. */
export function readList(name: string, { reasons = true } = {}): readonly string[] {
  const lines = readFileSync(join(import.meta.dirname, name), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const entries = lines.map((line) => {
    const [entry, reason] = line.split(' # ');
    if (reasons && !reason?.trim()) throw new Error(`${name}: '${line}' gives no reason`);
    return entry!.trim();
  });
  const twice = entries.find((entry, i) => entries.indexOf(entry) !== i);
  if (twice !== undefined) throw new Error(`${name}: '${twice}' stands twice`);
  return entries;
}

/** Compares what was found with what is excepted, both ways. */
export function unexpected(
  found: readonly string[],
  excepted: readonly string[],
): { readonly found: readonly string[]; readonly noLongerTrue: readonly string[] } {
  return { found: found.filter((entry) => !excepted.includes(entry)), noLongerTrue: excepted.filter((entry) => !found.includes(entry)) };
}
export const nothing = { found: [], noLongerTrue: [] };
