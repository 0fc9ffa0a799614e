/** Numbers, chains and seals what waits in `event_pending`. Any number of processes may do it at once: the head row, expected as it was read,
 *  decides whose batch counts. Not seen by anyone: a row that is deleted by hand in the second before it is sealed. */
import { setTimeout } from 'node:timers/promises';
import { type Change, type Commit, Conflict, insert, remove, update } from '../../kernel/change.ts';
import type { Context } from '../../kernel/context.ts';
import { pendingEventTable } from '../../kernel/event.ts';
import { defineJob, type Job } from '../../kernel/job.ts';
import { eventHeadTable, eventTable, type PendingRow, readPending, readState } from './events.store.ts';
import { headOf, pendingFault, pendingRecord } from './genuine.ts';
import { detailsText, type EventRecord, type Head, type Seals } from './seals.ts';

/** Some milliseconds of the event loop. */
const batchMax = 125;
const pauseMaxMs = 100;

export const createSealer = (seals: Seals, commit: Commit): Job => {
  let complained = false;
  return defineJob({
    name: 'event.seal',
    everyMs: 1_000,
    async run(context) {
      const obstacle = await sealAll(seals, commit, context);
      if (obstacle && !complained) context.log.error({ obstacle }, 'events cannot be sealed: run the integrity check');
      complained = obstacle !== undefined;
    },
  });
};

/** Answers what stands in the way, once somebody has been at the tables by hand. */
export async function sealAll(seals: Seals, commit: Commit, context: Context): Promise<string | undefined> {
  const found = headOf(await readState(context.database), seals);
  if (typeof found === 'string') return found;
  let head = found;
  for await (const rows of readPending(context.database, batchMax)) {
    const started = context.now();
    const records = await recordsOf(rows, seals, context);
    if (records.length === 0) continue;
    const batch = chain(records, head, seals);
    try {
      await commit(batch.changes);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      const lostRace = error.reason === 'condition' || head === undefined;
      return lostRace ? undefined : `events after event ${head?.number} are there already`;
    }
    head = batch.head;
    // Half of the time is the callers'.
    if (rows.length === batchMax) await setTimeout(Math.min(pauseMaxMs, context.now() - started));
  }
  return undefined;
}

/** The pending events that the service wrote, and in the place of each other row an event about it, once. */
async function recordsOf(rows: readonly PendingRow[], seals: Seals, context: Context): Promise<readonly Sealable[]> {
  const ours: Sealable[] = [];
  const foreign: PendingRow[] = [];
  for (const row of rows) {
    const record = pendingRecord(row, seals);
    if (record) ours.push({ record, waits: true });
    else foreign.push(row);
  }
  return foreign.length === 0 ? ours : [...ours, ...(await notices(foreign, seals, context))];
}

interface Sealable {
  readonly record: EventRecord;
  /** It has a row in `event_pending`. */
  readonly waits: boolean;
}

async function notices(foreign: readonly PendingRow[], seals: Seals, { database, node, now }: Context): Promise<readonly Sealable[]> {
  const told = new Map(foreign.map((row) => [seals.noticeId(row.id), pendingFault(row)]));
  const text = 'select id from event where id = any($1::text[])';
  for (const { id } of await database.rows<{ id: string }>({ text, values: [[...told.keys()]] })) told.delete(id);
  return [...told].map(([id, message]) => {
    const details = detailsText({ message });
    return { record: { id, code: 'SUPERVISOR', module: 'event', node, status: 'warning', at: now(), details }, waits: false };
  });
}

function chain(
  records: readonly Sealable[],
  before: Head | undefined,
  seals: Seals,
): { readonly changes: readonly Change[]; readonly head: Head } {
  const changes: Change[] = [];
  let head: Head = before ?? { number: 0, seal: '' };
  for (const { record, waits } of records) {
    const number = head.number + 1;
    head = { number, seal: seals.event(number, record, head.seal) };
    changes.push(insert(eventTable, { ...columnsOf(record), details: JSON.parse(record.details), ...head }));
    if (waits) changes.push(remove(pendingEventTable, { id: record.id }));
  }
  const row = { ...head, mac: seals.head(head) };
  changes.push(
    before
      ? update(eventHeadTable, { one: true }, row, { number: before.number, seal: before.seal })
      : insert(eventHeadTable, { one: true, ...row }),
  );
  return { changes, head };
}

const columnsOf = ({ id, code, module, node, status, at }: EventRecord): Omit<EventRecord, 'details'> => ({
  id,
  code,
  module,
  node,
  status,
  at,
});
