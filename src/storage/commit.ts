/** The only writer. Actions hand over their changes; whatever waits when a transaction returns goes into the next one together.
 *  A unit (the changes of one action, its event among them) is applied whole or not at all. */
import type pg from 'pg';
import { type Change, type Commit, Conflict } from '../kernel/change.ts';
import { unavailable } from './database.ts';
import { type Batch, batches } from './statements.ts';

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

export function createCommitter(pool: pg.Pool, { lanes, unitsMax }: CommitterOptions = { lanes: 2, unitsMax: 64 }): Commit {
  let waiting: Unit[] = [];
  let busy = 0;

  const next = () => {
    while (busy < lanes && waiting.length > 0) {
      const group = waiting.slice(0, unitsMax);
      waiting = waiting.slice(unitsMax);
      busy += 1;
      void applyGroup(group).finally(() => {
        busy -= 1;
        next();
      });
    }
  };

  async function applyGroup(group: readonly Unit[]): Promise<void> {
    try {
      await transaction(group.flatMap(({ changes }) => changes));
      for (const unit of group) unit.settle();
    } catch (error) {
      if (group.length > 1 && !isUnavailable(error)) return oneByOne(group);
      if (group.length === 1 && isTransient(error)) return oneByOne(group);
      for (const unit of group) unit.settle(error);
    }
  }

  /** Finds the loser: the others are none the worse for having shared a transaction with it. */
  async function oneByOne(group: readonly Unit[]): Promise<void> {
    for (const unit of group)
      await repeated(unit).then(
        () => unit.settle(),
        (failure: unknown) => unit.settle(failure),
      );
  }

  async function repeated({ changes }: Unit, attempt = 1): Promise<void> {
    try {
      await transaction(changes);
    } catch (error) {
      if (!isTransient(error) || attempt === attemptsMax) throw error;
      return repeated({ changes, settle: () => {} }, attempt + 1);
    }
  }

  async function transaction(changes: readonly Change[]): Promise<void> {
    const client = await pool.connect().catch((error: unknown) => Promise.reject(unavailable(error)));
    let broken = false;
    try {
      await client.query('begin');
      for (const batch of batches(changes)) await apply(client, batch);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback').catch(() => {
        broken = true;
      });
      throw translated(error);
    } finally {
      client.release(broken);
    }
  }

  return (changes) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ changes, settle: (error) => (error === undefined ? resolve() : reject(error)) });
      if (waiting.length === 1) setImmediate(next);
    });
}

async function apply(client: pg.PoolClient, { name, text, rows, changes }: Batch): Promise<void> {
  const { rowCount } = await client.query({ name, text, values: [rows] }).catch((error: unknown) => {
    const reason = conflictBySqlState.get((error as { code?: string }).code ?? '');
    throw reason ? new Conflict(reason, changes.length === 1 ? changes[0] : undefined) : error;
  });
  if (rowCount !== changes.length) throw new Conflict('condition', changes.length === 1 ? changes[0] : undefined);
}

const conflictBySqlState = new Map([
  ['23505', 'duplicate'],
  ['23503', 'reference'],
  ['23001', 'reference'],
] as const) as ReadonlyMap<string, 'duplicate' | 'reference'>;

/** Serialization failure and deadlock: nothing is wrong with the unit itself. */
const isTransient = (error: unknown) => ['40001', '40P01'].includes((error as { code?: string }).code ?? '');
const isUnavailable = (error: unknown) => (error as { code?: string }).code === 'database-unavailable';
const translated = (error: unknown) => (error instanceof Conflict || isTransient(error) ? error : unavailable(error));
