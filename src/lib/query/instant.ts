/** Dates of a query: how they are spelt, and which milliseconds they cover once `now` is known. UTC throughout. */
import type { Instant, Unit } from './tree.ts';

const day = 86_400_000;
const unitMs: Readonly<Record<Unit, number>> = { d: day, h: 3_600_000, m: 60_000, s: 1_000 };

const units = new Map<string, Unit>([
  ...(['d', 'day', 'days'] as const).map((word) => [word, 'd'] as const),
  ...(['h', 'hour', 'hours'] as const).map((word) => [word, 'h'] as const),
  ...(['m', 'minute', 'minutes'] as const).map((word) => [word, 'm'] as const),
  ...(['s', 'second', 'seconds'] as const).map((word) => [word, 's'] as const),
]);

/** Start, inclusive, and end, exclusive, in milliseconds since 1970. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/** `30`, `days`; undefined for a unit that is none (there are no weeks and no months) or a span out of reach. */
export function relative(amount: string, unitWord: string): Instant | undefined {
  const unit = units.get(unitWord);
  if (unit === undefined || !Number.isSafeInteger(Number(amount) * unitMs[unit])) return undefined;
  return { amount: Number(amount) + 0, unit };
}

/** `YYYY` to `YYYY-MM-DDTHH:mm:ss`, cut after any part; undefined for another spelling and for a day that no calendar has. */
export function absolute(date: string): Instant | undefined {
  return periodOf(date) === undefined ? undefined : { date };
}

/** What an instant covers: a partial date and `today` their whole period, `now` and spans one millisecond. */
export function resolve(instant: Instant, now: number): Period {
  if (instant === 'now') return { start: now, end: now + 1 };
  if (instant === 'today') {
    const start = Math.floor(now / day) * day;
    return { start, end: start + day };
  }
  if ('date' in instant) return periodOf(instant.date)!;
  const start = now + instant.amount * unitMs[instant.unit];
  return { start, end: start + 1 };
}

const first = '0000-01-01T00:00:00';
const partial = /^\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d)?)?)?)?)?$/;

/** By the length of what is written: the start of the next period. */
const next: Readonly<Record<number, (date: Date) => number>> = {
  4: (date) => date.setUTCFullYear(date.getUTCFullYear() + 1),
  7: (date) => date.setUTCMonth(date.getUTCMonth() + 1),
  10: (date) => date.getTime() + day,
  13: (date) => date.getTime() + unitMs.h,
  16: (date) => date.getTime() + unitMs.m,
  19: (date) => date.getTime() + unitMs.s,
};

function periodOf(text: string): Period | undefined {
  if (!partial.test(text)) return undefined;
  const date = new Date(`${text}${first.slice(text.length)}Z`);
  const start = date.getTime();
  // 30 February would be read as 1 March.
  if (Number.isNaN(start) || !date.toISOString().startsWith(text)) return undefined;
  return { start, end: next[text.length]!(date) };
}
