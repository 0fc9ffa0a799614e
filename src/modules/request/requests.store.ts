/** The tables of requests and of intended signatures. */
import { defineTable, type RowOf } from '../../kernel/change.ts';
import type { Context } from '../../kernel/context.ts';
import type { Evaluated } from '../certificate/index.ts';
import type { Status } from './states.ts';

export const requestTable = defineTable(
  'request',
  {
    id: 'text',
    revision: 'bigint',
    module: 'text',
    workflow: 'text',
    status: 'text',
    profile: 'text',
    profile_revision: 'bigint',
    requester: 'text',
    owner: 'text',
    team: 'text',
    contact: 'text',
    approver: 'text',
    requester_comment: 'text',
    approver_comment: 'text',
    registration_date: 'bigint',
    last_modification_date: 'bigint',
    expiration_date: 'bigint',
    remove_at: 'bigint',
    dn: 'text',
    holder_id: 'text',
    labels: 'jsonb',
    metadata: 'jsonb',
    template: 'jsonb',
    certificate_id: 'text',
    error: 'text',
  },
  ['id'],
);

/** What an enroll request asks for: the elements as evaluated, and the CSR in PEM. */
export interface EnrollTemplate {
  readonly elements: Evaluated;
  readonly csr: string;
}

export interface RequestRow
  extends Omit<RowOf<typeof requestTable.columns>, 'id' | 'revision' | 'status' | 'profile' | 'template' | 'labels'> {
  readonly id: string;
  readonly revision: number;
  readonly status: Status;
  readonly profile: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly template: EnrollTemplate;
}

/** A signature that is going to be made: its serial number and bytes are committed before it is. The row is never changed. */
export const issuanceTable = defineTable(
  'issuance',
  { authority: 'text', serial: 'text', request_id: 'text', connector: 'text', tbs: 'bytea', tbs_hash: 'text', at: 'bigint' },
  ['authority', 'serial'],
);
interface IssuanceRow {
  readonly authority: string;
  readonly serial: string;
  readonly connector: string;
  readonly tbs: Uint8Array;
  readonly tbs_hash: string;
}

const columns = Object.keys(requestTable.columns).join(', ');

export async function findRequest(id: string, { database }: Context): Promise<RequestRow | undefined> {
  const [row] = await database.rows<RequestRow>({
    name: 'request-get',
    text: `select ${columns} from request where id = $1`,
    values: [id],
  });
  return row;
}

export type Unfinished = RequestRow & IssuanceRow;

/** Requests that were decided before `time` (epoch ms) and are still not done, with what was going to be signed: their process died in between. */
export const findUnfinished = ({ database }: Context, time: number): Promise<Unfinished[]> =>
  database.rows<Unfinished>({
    name: 'request-unfinished',
    text: `select ${columns}, authority, serial, connector, tbs, tbs_hash from request join issuance on request_id = id
      where status = 'approved' and last_modification_date < $1 order by last_modification_date limit 100`,
    values: [time],
  });
