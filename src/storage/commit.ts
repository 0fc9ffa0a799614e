/** The only writer. Actions hand over their changes; whatever waits when a transaction returns goes into the next one together.
 *  A unit (the changes of one action, its event among them) is applied whole or not at all. */
import type pg from 'pg';
import { type Change, type Commit, Conflict } from '../kernel/change.ts';
import { isOutage } from '../kernel/errors.ts';
import { unavailable } from './database.ts';
import { groupStatement, lostCondition } from './statements.ts';

export interface CommitterOptions {
  /** Transactions under way at once. */
  readonly lanes: number;
  /** Units in one transaction. */
  readonly unitsMax: number;
}

interface Unit {
  readonly changes: readonly Change[];
  settle(error?: unknown): void;
}

const attemptsMax = 5;

/** More units a transaction save little and let callers wait longer. */
export function createCommitter(pool: pg.Pool, { lanes = 2, unitsMax = 32 }: Partial<CommitterOptions> = {}): Commit {
  let waiting: Unit[] = [];
  let busy = 0;

  const next = () => {
    while (busy < lanes && waiting.length > 0) {
      const size = groupSize(waiting, unitsMax);
      const group = waiting.slice(0, size);
      waiting = waiting.slice(size);
      busy += 1;
      void applyGroup(group).finally(() => {
        busy -= 1;
        next();
      });
    }
  };

  async function applyGroup(group: readonly Unit[]): Promise<void> {
    try {
      await apply(group.flatMap(({ changes }) => changes));
      for (const unit of group) unit.settle();
    } catch (error) {
      if (group.length > 1 && !isOutage(error)) return oneByOne(group);
      if (group.length === 1 && isTransient(error)) return oneByOne(group);
      for (const unit of group) unit.settle(error);
    }
  }

  /** Finds the loser: the others are none the worse for having shared a transaction with it. An outage is everybody's. */
  async function oneByOne(group: readonly Unit[]): Promise<void> {
    let outage: unknown;
    for (const { changes, settle } of group) {
      if (outage !== undefined) settle(outage);
      else
        await repeatedly(changes).then(
          () => settle(),
          (error: unknown) => {
            if (isOutage(error)) outage = error;
            settle(error);
          },
        );
    }
  }

  async function repeatedly(changes: readonly Change[], attempt = 1): Promise<void> {
    try {
      await apply(changes);
    } catch (error) {
      if (!isTransient(error) || attempt === attemptsMax) throw error;
      return repeatedly(changes, attempt + 1);
    }
  }

  async function apply(changes: readonly Change[]): Promise<void> {
    const statement = groupStatement(changes);
    await pool.query({ ...statement, values: [...statement.values] }).catch((error: unknown) => Promise.reject(translated(error, changes)));
  }

  return (changes) =>
    new Promise<void>((resolve, reject) => {
      if (changes.length === 0) return resolve();
      waiting.push({ changes, settle: (error) => (error === undefined ? resolve() : reject(error)) });
      if (waiting.length === 1) setImmediate(next);
    });
}

/** How many of the waiting units go together. One that guards goes alone: within one statement it would not see what the others do. */
function groupSize(waiting: readonly Unit[], unitsMax: number): number {
  const guarding = waiting.findIndex(({ changes }) => changes.some(({ op }) => op === 'guard'));
  return guarding < 0 ? Math.min(waiting.length, unitsMax) : Math.min(Math.max(guarding, 1), unitsMax);
}

const conflicts: ReadonlyMap<string, Conflict['reason']> = new Map([
  [lostCondition, 'condition'],
  ['23505', 'duplicate'],
  ['23503', 'reference'],
  ['23001', 'reference'],
]);
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** Serialization failure and deadlock: nothing is wrong with the unit itself. */
const isTransient = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

function translated(error: unknown, changes: readonly Change[]): unknown {
  const reason = conflicts.get(codeOf(error));
  return reason ? new Conflict(reason, changes.length === 1 ? changes[0] : undefined) : unavailable(error);
}
