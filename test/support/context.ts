/** What actions need, over a real database: a context with a clock that the test moves and randomness that a seed repeats, and a performer. */

import { createHash } from 'node:crypto';
import type { Action, Input, Reply } from '../../src/kernel/action.ts';
import { type Commit, insert } from '../../src/kernel/change.ts';
import { type Context, newId } from '../../src/kernel/context.ts';
import { pendingEventTable } from '../../src/kernel/event.ts';
import { createPerformer, type Performer, type Trail } from '../../src/kernel/perform.ts';
import { compilePermissions } from '../../src/kernel/permission.ts';
import { nobody, type Permission, type Principal } from '../../src/kernel/principal.ts';
import { createCommitter } from '../../src/storage/commit.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { createDocuments } from '../../src/storage/documents.ts';
import { createVault } from '../../src/vault/vault.ts';
import { createDatabase } from './database.ts';

/** Epoch milliseconds that stand still unless moved. */
export interface Clock {
  now(): number;
  move(ms: number): void;
}

export function makeClock(start = Date.UTC(2030, 0, 1)): Clock {
  let at = start;
  return {
    now: () => at,
    move(ms) {
      at += ms;
    },
  };
}

/** The same bytes for the same seed. */
export function makeRandom(seed: string): (bytes: number) => Uint8Array {
  let drawn = 0;
  return (bytes) => {
    drawn += 1;
    return createHash('shake256', { outputLength: bytes }).update(`${seed} ${drawn}`).digest();
  };
}

/** Somebody logged in at the local provider who holds these permissions. */
export function principalWith(permissions: readonly string[], identifier = 'ada'): Principal {
  const held: readonly Permission[] = permissions.map((value) => ({ value }));
  const provider = { type: 'Local', name: 'local' } as const;
  return { identifier, provider, roles: [], teams: [], permissions: held, grant: compilePermissions(held) };
}

export interface ContextOptions {
  readonly database: Database;
  readonly principal?: Principal;
  readonly now?: () => number;
  /** Contexts of one test that write ids need different ones, or the same `random`. */
  readonly seed?: string;
  readonly random?: (bytes: number) => Uint8Array;
  readonly ip?: string;
  readonly log?: Context['log'];
}

export async function makeContext(options: ContextOptions): Promise<Context> {
  const { database, principal = nobody, now = makeClock().now, seed = 'seed', random = makeRandom(seed), ip, log = silent } = options;
  const documents = createDocuments(database);
  const context = async (): Promise<Context> => ({
    now,
    random,
    principal,
    configuration: await documents.current(),
    database,
    vault: createVault({ key: new Uint8Array(32), random }),
    log,
    node: 'test',
    publicUrl: 'https://perennial.test',
    queryDepthMax: 5,
    caller: ip === undefined ? {} : { ip },
    renewed: context,
    newId: () => newId({ now, random }),
  });
  return context();
}

const silent: Context['log'] = { info: () => {}, warn: () => {}, error: () => {} };

/** Every event as a row, none held back. */
const plainTrail: Trail = {
  append: ({ code, module, status, details }, { newId: makeId, node, now }) =>
    insert(pendingEventTable, { id: makeId(), code, module, node, status, at: now(), details, mac: '' }),
  admits: () => true,
};

export function performerOn(database: Database, commit: Commit = createCommitter(database.writers)): Performer {
  return createPerformer(commit, plainTrail);
}

export interface RecordedEvent {
  readonly code: string;
  readonly module: string;
  readonly status: string;
  readonly details: Readonly<Record<string, string>>;
}

/** The events so far, oldest first. */
export const eventsIn = (database: Database): Promise<RecordedEvent[]> =>
  database.rows<RecordedEvent>({ text: 'select code, module, status, details from event_pending order by position' });

/** A database of its own with everything to act on it; `close` ends it. */
export interface Bench {
  readonly database: Database;
  readonly performer: Performer;
  readonly clock: Clock;
  readonly commit: Commit;
  /** A new context, as for a new call. */
  as(principal?: Principal, ip?: string): Promise<Context>;
  perform<B>(action: Action<B>, input: Partial<Input<unknown>>, principal?: Principal): Promise<Reply>;
  /** Forgets all documents and events. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export async function openBench(): Promise<Bench> {
  const { url, drop } = await createDatabase();
  const database = openDatabase({ url, poolSize: 2, lanes: 2 });
  const commit = createCommitter(database.writers);
  const performer = performerOn(database, commit);
  const clock = makeClock();
  const random = makeRandom('bench');
  const as: Bench['as'] = (principal = nobody, ip) =>
    makeContext({ database, principal, now: clock.now, random, ...(ip === undefined ? {} : { ip }) });
  return {
    database,
    performer,
    clock,
    commit,
    as,
    perform: async (action, input, principal) =>
      performer.perform(action, { params: {}, query: {}, body: undefined, ...input }, await as(principal)),
    async clear() {
      await database.writers.query('delete from reference; delete from document; delete from event_pending');
    },
    async close() {
      await database.close();
      await drop();
    },
  };
}
