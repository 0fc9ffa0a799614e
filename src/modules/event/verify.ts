/** Walks the trail from an event to the head and names the first record that does not fit: whatever was edited, deleted, inserted or moved by hand among
 *  events, pending events and head. Not seen: all of it put back together to an earlier moment, for which a head kept elsewhere is needed. */
import { setImmediate } from 'node:timers/promises';
import type { Reader } from '../../kernel/context.ts';
import { readPending, readSealed, readState, type SealedRow, type TrailState } from './events.store.ts';
import { follows, headOf, pendingFault, pendingRecord } from './genuine.ts';
import type { Head, Seals } from './seals.ts';

const pageMax = 2_000;
/** Checked without a pause. */
const strideMax = 250;

export interface VerifyTools {
  readonly database: Reader;
  readonly seals: Seals;
  /** Called now and then while the check goes on. */
  pulse(): Promise<void>;
}

interface Fault {
  readonly reason: string;
  /** The bad record, where it is there and has an id. */
  readonly eventId?: string;
}
/** Without a reason all is well. */
export interface Verdict extends Partial<Fault> {
  /** Ids of the first and last events that were found in order. */
  readonly from?: string;
  readonly to?: string;
}

/** From the event with this id on, else from the first. */
export async function verifyTrail(tools: VerifyTools, startFrom?: string): Promise<Verdict> {
  const { database, seals } = tools;
  const state = await readState(database);
  const head = headOf(state, seals);
  const start = startFrom === undefined ? 1 : await numberOf(database, startFrom);
  if (start === undefined) return { eventId: startFrom!, reason: `event ${startFrom} is missing` };

  const end = typeof head === 'object' ? head.number : (state.last ?? 0);
  const { fault, seal, ...reached } = await walk(tools, start, end);
  const found = fault ?? (await headFault(tools, state, head, seal)) ?? (await firstForeign(tools));
  return { ...reached, ...found };
}

interface Walk extends Pick<Verdict, 'from' | 'to'> {
  /** Of the last event in order. */
  readonly seal: string;
  readonly fault?: Fault;
}

async function walk({ database, seals, pulse }: VerifyTools, start: number, end: number): Promise<Walk> {
  let reached: Walk = { seal: '' };
  if (start > 1) {
    const [before] = await readSealed(database, start - 1, start - 1);
    if (!before) return { ...reached, fault: missing(start - 1) };
    reached = { seal: before.seal };
  }
  const read = (from: number) => {
    const rows = readSealed(database, from, Math.min(from + pageMax - 1, end));
    rows.catch(() => {}); // where the walk ends before these are awaited
    return rows;
  };
  let reading = read(start);
  for (let expected = start; expected <= end; ) {
    const rows = await reading;
    const next = expected + pageMax;
    if (next <= end) reading = read(next);
    for (const [index, row] of rows.entries()) {
      if (index % strideMax === 0) await setImmediate();
      const fault = faultOf(row, expected, reached.seal, seals);
      if (fault) return { ...reached, fault };
      reached = { from: reached.from ?? row.id, to: row.id, seal: row.seal };
      expected += 1;
    }
    if (expected < next && expected <= end) return { ...reached, fault: missing(expected) };
    await pulse();
  }
  return reached;
}

const missing = (number: number): Fault => ({ reason: `event ${number} is missing` });

function faultOf(row: SealedRow, expected: number, previous: string, seals: Seals): Fault | undefined {
  if (row.number > expected) return missing(expected);
  if (row.number < expected) return { eventId: row.id, reason: `an event was inserted after event ${row.number}` };
  return follows(row, previous, seals) ? undefined : { eventId: row.id, reason: `event ${expected} was altered` };
}

async function headFault(
  { database, seals }: VerifyTools,
  { first, last }: TrailState,
  head: Head | undefined | string,
  seal: string,
): Promise<Fault | undefined> {
  if (first !== null && first < 1) return { ...(await idOf(database, first)), reason: 'an event was inserted before event 1' };
  if (typeof head === 'string') return { reason: head };
  if (!head) return undefined;
  if (head.seal !== seal) return { reason: 'the head does not fit' };
  if (last === null || last <= head.number) return undefined;
  const [next] = await readSealed(database, head.number + 1, head.number + 1);
  if (next && follows(next, seal, seals)) return { reason: 'the head does not fit: it is older than the last event' };
  return { ...(next ? { eventId: next.id } : await idOf(database, last)), reason: `an event was inserted after event ${head.number}` };
}

async function firstForeign({ database, seals, pulse }: VerifyTools): Promise<Fault | undefined> {
  for await (const rows of readPending(database, pageMax)) {
    for (const [index, row] of rows.entries()) {
      if (index % strideMax === 0) await setImmediate();
      if (!pendingRecord(row, seals)) return { eventId: row.id, reason: pendingFault(row) };
    }
    await pulse();
  }
  return undefined;
}

/** Undefined where no sealed event has this id. */
export async function numberOf(database: Reader, id: string): Promise<number | undefined> {
  const [row] = await database.rows<{ number: number }>({ text: 'select number from event where id = $1', values: [id] });
  return row?.number;
}

async function idOf(database: Reader, number: number): Promise<{ readonly eventId?: string }> {
  const [row] = await database.rows<{ id: string }>({ text: 'select id from event where number = $1', values: [number] });
  return row ? { eventId: row.id } : {};
}
