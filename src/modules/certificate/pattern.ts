/** Regular expressions that administrators write for values, run in linear time. A value fits one that is found in it: who means the whole value
 *  writes `^…$`. Letters in their case. */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { z } from 'zod';

const lengthMax = 1_000;
/** Instructions: what a match costs for each character. */
const sizeMax = 2_000;
const compiledMax = 1_000;
const compiled = new Map<string, RE2JS>();

/** Compiling costs a thousand times more than matching, and the same few expressions come again and again. */
function compile(source: string): RE2JS {
  const known = compiled.get(source);
  if (known) return known;
  const made = RE2JS.compile(source);
  if (compiled.size === compiledMax) compiled.clear();
  compiled.set(source, made);
  return made;
}

export const fits = (value: string, source: string): boolean => compile(source).matcher(value).find();

/** A field that holds such an expression. */
export const pattern = z
  .string()
  .max(lengthMax)
  .superRefine((source, context) => {
    const problem = problemOf(source);
    if (problem) context.addIssue({ code: 'custom', message: `not a regular expression: ${problem}` });
  });

function problemOf(source: string): string | undefined {
  if (source.length > lengthMax) return 'it is too long';
  try {
    return RE2JS.compile(source).programSize() > sizeMax ? 'its repetitions are too large' : undefined;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return error.getDescription();
  }
}
