/** Finite durations as the wire writes them: `90 days`, `5 minutes`. Not ISO 8601, no weeks, no months. */

const unitsMs = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1_000, millisecond: 1 } as const;

type Unit = keyof typeof unitsMs;

const shortNames: Readonly<Record<Unit, readonly string[]>> = {
  day: ['d'],
  hour: ['h'],
  minute: ['m', 'min', 'mins'],
  second: ['s', 'sec', 'secs'],
  millisecond: ['ms', 'milli', 'millis'],
};

const units = Object.entries(unitsMs) as readonly (readonly [Unit, number])[];

const msByName = new Map(units.flatMap(([unit, ms]) => [unit, `${unit}s`, ...shortNames[unit]].map((name) => [name, ms] as const)));

/** The longest duration: what clients that count nanoseconds in 64 bits can hold, some 292 years. */
export const durationMaxMs = 106_751 * unitsMs.day;

/** Milliseconds, or undefined when the text is no duration or a longer one than `durationMaxMs`. Zero is a duration. */
export const parseDuration = (text: string): number | undefined => {
  const [, count, name] = /^([0-9]{1,20})\s{0,9}([a-z]{1,12})$/.exec(text) ?? [];
  const ms = Number(count) * (msByName.get(name ?? '') ?? Number.NaN);
  return ms <= durationMaxMs ? ms : undefined;
};

/** `<n> <unit>` in the largest unit that says it exactly: 5400000 → `90 minutes`, 86400000 → `1 day`. Takes whole milliseconds from 0. */
export const formatDuration = (ms: number): string => {
  if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError(`Not a duration in whole milliseconds: ${ms}`);
  const [unit, size] = units.find(([, size]) => ms % size === 0)!;
  return `${ms / size} ${unit}${ms === size ? '' : 's'}`;
};
