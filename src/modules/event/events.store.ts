/** The tables of the trail beside `event_pending`, and how their rows are read for sealing and checking. */
import { defineTable } from '../../kernel/change.ts';
import type { Reader } from '../../kernel/context.ts';
import type { EventRecord, Head } from './seals.ts';

export const eventTable = defineTable(
  'event',
  {
    number: 'bigint',
    id: 'text',
    code: 'text',
    module: 'text',
    node: 'text',
    status: 'text',
    at: 'bigint',
    details: 'jsonb',
    seal: 'text',
  },
  ['number'],
);
/** One row: the last sealed event, so that the newest cannot be cut off unseen. */
export const eventHeadTable = defineTable('event_head', { one: 'boolean', number: 'bigint', seal: 'text', mac: 'text' }, ['one']);
/** Requests for a check and their results. `lease_until` belongs to the process that is at it, and is not sealed. */
export const integrityReportTable = defineTable(
  'integrity_report',
  { id: 'text', status: 'text', body: 'jsonb', seal: 'text', lease_until: 'bigint' },
  ['id'],
);

export interface SealedRow extends EventRecord {
  readonly number: number;
  readonly seal: string;
}
export interface PendingRow extends EventRecord {
  /** As text: it is not sealed, so it may be any 64-bit number. */
  readonly position: string;
  readonly mac: string;
  /** An event of this id is sealed already. */
  readonly sealed: boolean;
}
/** Head and bounds of one moment. */
export interface TrailState {
  /** One, or none before the first event. */
  readonly heads: readonly (Head & { readonly mac: string })[];
  /** Numbers of the first and last rows; null without any. */
  readonly first: number | null;
  readonly last: number | null;
}

const columns = 'id, code, module, node, status, at, details::text as details';

export async function readState(database: Reader): Promise<TrailState> {
  const text = `select h.number, h.seal, h.mac, e.first, e.last
    from (select min(number) as first, max(number) as last from event) e left join event_head h on true`;
  type Row = Pick<TrailState, 'first' | 'last'> & (TrailState['heads'][number] | { readonly number: null });
  const rows = await database.rows<Row>({ name: 'event-state', text });
  const heads = rows.flatMap((row) => (row.number === null ? [] : [{ number: row.number, seal: row.seal, mac: row.mac }]));
  return { heads, first: rows[0]!.first, last: rows[0]!.last };
}

/** The events of these numbers, both included, in order: a range, so that a row too many shows as well as one too few. */
export const readSealed = (database: Reader, from: number, to: number): Promise<SealedRow[]> =>
  database.rows({
    name: 'event-range',
    text: `select number, seal, ${columns} from event where number between $1 and $2 order by number`,
    values: [from, to],
  });

/** Pages of what waits, in the order of its arrival; what arrives meanwhile may be among it or not. Each row is looked up by itself: `exists` would be
 *  planned as a hash of the whole trail. */
export async function* readPending(database: Reader, pageMax: number): AsyncGenerator<readonly PendingRow[]> {
  const text = `select position::text as position, mac, ${columns}, coalesce((select true from event e where e.id = p.id limit 1), false) as sealed
    from event_pending p where position >= $1::bigint order by p.position limit $2`;
  let from = -(2n ** 63n);
  for (;;) {
    const rows = await database.rows<PendingRow>({ name: 'event-pending-page', text, values: [String(from), pageMax] });
    const last = rows.at(-1);
    if (last) yield rows;
    if (!last || rows.length < pageMax) return;
    from = BigInt(last.position) + 1n;
  }
}
