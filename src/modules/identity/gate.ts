/** Lets a few pieces of work run at once, some more wait in order, and turns the rest away. */
import { routeErrors } from '../../kernel/errors.ts';

export interface GateOptions {
  readonly atOnceMax: number;
  readonly waitingMax: number;
}

/** The gate throws `ROUTE-005` when nobody else may wait. */
export function createGate({ atOnceMax, waitingMax }: GateOptions): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy < atOnceMax) busy += 1;
    else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting.push(resolve));
    else throw routeErrors.tooMany('too many logins are being checked');
    try {
      return await work();
    } finally {
      // The place is handed over: `busy` only falls when nobody waits.
      const next = waiting.shift();
      if (next) next();
      else busy -= 1;
    }
  };
}
