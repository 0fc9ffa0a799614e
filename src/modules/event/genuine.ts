/** Which rows of the trail the service wrote itself. The sealer builds on nothing else; the check names what is not. */
import type { PendingRow, SealedRow, TrailState } from './events.store.ts';
import { type EventRecord, fitting, type Head, type Seals } from './seals.ts';

/** The head, undefined before the first event; or what is wrong with it, in words. */
export function headOf({ heads, last }: TrailState, seals: Seals): Head | undefined | string {
  const [head] = heads;
  if (!head) return last === null ? undefined : 'the head is missing';
  if (heads.length > 1) return 'the head does not fit: there are several';
  return head.mac === seals.head(head) ? head : 'the head does not fit';
}

/** Undefined for a row that the service did not write, or has sealed before. */
export const pendingRecord = (row: PendingRow, seals: Seals): EventRecord | undefined =>
  row.sealed ? undefined : fitting(row, (record) => seals.pending(record) === row.mac);

/** What is wrong with a pending row that `pendingRecord` does not take. */
export const pendingFault = ({ id, sealed }: PendingRow): string =>
  `pending event ${id} ${sealed ? 'was put back after it was sealed' : 'was not written by the service'}`;

/** Whether the event was sealed like this, and after the event with the seal `previous`. */
export const follows = (row: SealedRow, previous: string, seals: Seals): boolean =>
  fitting(row, (record) => seals.event(row.number, record, previous) === row.seal) !== undefined;
