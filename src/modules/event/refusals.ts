/** Keeps a flood of refusals from flooding the trail: so many a minute of one kind by one caller are recorded one by one, the rest is counted. */

const minuteMs = 60_000;

export interface Refusals<E> {
  /** Whether this one is recorded by itself; if not, it is counted for the next that is. `sample` is what a count would be told with. */
  admits(key: string, sample: E, now: number): boolean;
  /** How many were counted since the last one that was recorded; they are then told. */
  take(key: string): number;
  /** The kinds of which some were counted a minute ago or longer, none recorded since; they are then told. */
  takeStale(now: number): readonly { readonly sample: E; readonly untold: number }[];
}

interface Entry<E> {
  since: number;
  admitted: number;
  untold: number;
  readonly sample: E;
}

/** Past `kindsMax` the oldest kind is forgotten with its count. */
export function createRefusals<E>({ perMinute = 30, kindsMax = 10_000 } = {}): Refusals<E> {
  const entries = new Map<string, Entry<E>>();

  function current(key: string, sample: E, now: number): Entry<E> {
    const known = entries.get(key);
    if (known && Math.abs(now - known.since) < minuteMs) return known;
    const entry = { since: now, admitted: 0, untold: known?.untold ?? 0, sample };
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > kindsMax) entries.delete(entries.keys().next().value!);
    return entry;
  }
  const told = (entry: Entry<E> | undefined): number => {
    const untold = entry?.untold ?? 0;
    if (entry) entry.untold = 0;
    return untold;
  };

  return {
    admits(key, sample, now) {
      const entry = current(key, sample, now);
      const admitted = entry.admitted < perMinute;
      entry[admitted ? 'admitted' : 'untold'] += 1;
      return admitted;
    },
    take: (key) => told(entries.get(key)),
    takeStale(now) {
      const stale = [...entries].filter(([, { since }]) => now - since >= minuteMs);
      for (const [key] of stale) entries.delete(key);
      return stale.map(([, entry]) => ({ sample: entry.sample, untold: told(entry) })).filter(({ untold }) => untold > 0);
    },
  };
}
