/** Schema pieces that several resources share. A schema stands for what is accepted, stored and answered; null on input is absence (`perform`),
 *  so an optional key is described as nullable in requests and is left out of answers. */
import { z } from 'zod';
import { formatDuration, parseDuration } from '../lib/duration.ts';

/** `semantics.md` 4.3: whole string, immutable. */
export const names = {
  plain: z.string().regex(/^[0-9a-zA-Z_-]{1,255}$/, 'a name consists of letters, digits, - and _'),
  dotted: z.string().regex(/^[0-9a-zA-Z_.-]{1,255}$/, 'a name consists of letters, digits, -, _ and .'),
  spaced: z
    .string()
    .regex(/^[0-9a-zA-Z_-]([0-9a-zA-Z_ -]{0,253}[0-9a-zA-Z_-])?$/, 'a name consists of letters, digits, -, _ and inner spaces'),
} as const;

/** PostgreSQL keeps neither NUL nor half a surrogate pair. */
export const isStorable = (value: string): boolean => value.isWellFormed() && !value.includes('\0');

export const id = z.string().regex(/^[0-9a-f]{24}$/);
export const text = z.string().max(100_000);
export const epochMs = z.int();

const localized = z.object({ lang: z.string().min(2).max(35), value: text }).meta({ id: 'LocalizedString' });
export const localizedTexts = z.array(localized).optional();

/** `<number> <unit>`, kept as `formatDuration` spells it: more spellings are read than the contract's pattern shows. */
export const duration = z
  .string()
  .max(40)
  .refine((value) => parseDuration(value) !== undefined, 'a duration is a number and a unit: 30 days')
  .overwrite((value) => formatDuration(parseDuration(value) ?? 0));

/** What a secret looks like outside: its value is taken and never shown. A bare string is accepted too. */
export const secretInput = z
  .preprocess((value) => (typeof value === 'string' ? { value } : value), z.object({ value: text.optional() }))
  .meta({ id: 'SecretString' });
export const secretShown = z.object({ value: z.null() });

export const orders = ['Asc', 'Desc', 'KeyAsc', 'KeyDesc'] as const;
