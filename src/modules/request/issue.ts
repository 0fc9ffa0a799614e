/** From a decided request to a certificate: the intent is committed, the authority signs, the outcome is committed. */
import { type Action, type Outcome, step } from '../../kernel/action.ts';
import { type Change, insert, update } from '../../kernel/change.ts';
import type { Context } from '../../kernel/context.ts';
import { ServiceError } from '../../kernel/errors.ts';
import { sha256Hex } from '../../lib/x509/certificate.ts';
import { type CertificateRow, certificateRow, certificateTable, type WebraProfile } from '../certificate/index.ts';
import type { PkiModule, Prepared } from '../pki/index.ts';
import { type Enrollment, issuanceProblem } from './enroll.ts';
import { enrollErrors, requestErrors } from './errors.ts';
import { presentRequest } from './present.ts';
import { findRequest, issuanceTable, type RequestRow, requestTable } from './requests.store.ts';
import { after } from './states.ts';

/** A request that was decided, and what is going to be signed for it. */
export interface Intent {
  readonly request: RequestRow;
  readonly connector: string;
  readonly order: ReturnType<Enrollment['order']>;
  readonly prepared: Prepared | undefined;
  /** Of the answer: submitting creates, approving does not. */
  readonly status: number;
}

const failedDaysKept = 7;
const dayMs = 86_400_000;

export interface Issuer {
  /** The certificate-to-be as changes, and what follows their commit. `request` is the row as it is going to stand. */
  intend(
    request: RequestRow,
    enrolled: Enrollment,
    profile: WebraProfile,
    answer: Pick<Intent, 'status'>,
    context: Context,
  ): Promise<Pick<Outcome, 'changes' | 'next'>>;
  /** Calls the authority and records what came of it. Reached from submit, from approve and from the reconciler. */
  readonly action: Action<Intent>;
}

export function createIssuer({ openConnector }: Pick<PkiModule, 'openConnector'>): Issuer {
  const action: Action<Intent> = {
    id: 'request.issue',
    permission: 'internal',
    class: 'lifecycle',
    audit: { code: 'LIFECYCLE-ENROLL', module: 'webra' },
    invalid: requestErrors.invalid,
    unexpected: requestErrors.unexpected,
    errors: [],
    async run({ body: intent }, context) {
      const issued = await certified(intent, context).catch((error: unknown) => issuanceProblem(error, context));
      return issued instanceof ServiceError ? failed(intent, issued, context) : completed(intent, issued, context);
    },
    async overtaken({ body: { request, status } }, context) {
      const row = await findRequest(request.id, context);
      if (row?.status === 'failed') return { failure: enrollErrors.failed(row.error ?? undefined) };
      if (row?.status !== 'completed') throw new Error(`the certificate of request ${request.id} could not be recorded`);
      return { status, answer: await presentRequest(row, {}, context) };
    },
  };

  async function certified(intent: Intent, context: Context): Promise<CertificateRow> {
    const connector = await openConnector(intent.connector, context);
    const issued = await connector.issue(intent.order, intent.prepared);
    if (issued.state !== 'issued') throw new Error('the authority answers later, which nothing here waits for');
    const certificate = rowOf(intent, issued.certificate, context);
    if (certificate.public_key_thumbprint !== sha256Hex(intent.order.spki)) throw new Error('the authority certified another key');
    return certificate;
  }

  return {
    action,
    async intend(request, { order }, { pkiConnector }, { status }, context) {
      const wanted = order(request.id);
      const prepared = await openConnector(pkiConnector, context)
        .then((connector) => connector.prepare(wanted))
        .catch((error: unknown) => Promise.reject(issuanceProblem(error, context)));
      return {
        changes: prepared ? [insert(issuanceTable, issuanceRow(request.id, pkiConnector, prepared, context))] : [],
        next: step(action, { request, connector: pkiConnector, order: wanted, prepared, status }),
      };
    },
  };
}

const issuanceRow = (requestId: string, connector: string, { authority, serial, tbs, tbsHash }: Prepared, { now }: Context) => ({
  authority,
  serial,
  request_id: requestId,
  connector,
  tbs,
  tbs_hash: tbsHash,
  at: now(),
});

const rowOf = ({ request, connector }: Intent, der: Uint8Array, { newId }: Context): CertificateRow =>
  certificateRow(der, {
    id: newId(),
    module: request.module!,
    profile: request.profile,
    owner: request.owner,
    team: request.team,
    contactEmail: request.contact,
    labels: request.labels,
    metadata: { pki_connector: connector },
  });

async function completed({ request, status }: Intent, certificate: CertificateRow, context: Context): Promise<Outcome> {
  const done = moved(request, 'issue', { certificate_id: certificate.id }, context);
  return {
    status,
    answer: await presentRequest(done.row, { certificate }, context),
    changes: [insert(certificateTable, certificate), done.change],
    details: {
      ...detailsOf(done.row),
      certificateId: certificate.id,
      certificateDn: certificate.dn,
      certificateSerial: certificate.serial,
      certificateIssuer: certificate.issuer,
    },
  };
}

function failed({ request }: Intent, failure: ServiceError, context: Context): Outcome {
  const { row, change } = moved(
    request,
    'fail',
    { error: failure.detail ?? failure.kind.title, remove_at: context.now() + failedDaysKept * dayMs },
    context,
  );
  return { failure, changes: [change], details: detailsOf(row) };
}

/** The request after a move, and the conditional change that makes it so. Refuses what the table of states does not name. */
export function moved(
  row: RequestRow,
  move: Parameters<typeof after>[1],
  set: Partial<RequestRow>,
  context: Context,
): { readonly row: RequestRow; readonly change: Change } {
  const status = after(row.status, move);
  if (!status) throw requestErrors.status(`a request that is ${row.status} cannot be moved by '${move}'`);
  const changed = { ...set, status, revision: row.revision + 1, last_modification_date: context.now() };
  return {
    row: { ...row, ...changed },
    change: update(requestTable, { id: row.id }, changed, { status: row.status, revision: row.revision }),
  };
}

export const detailsOf = (row: RequestRow) => ({
  requestId: row.id,
  requestWorkflow: row.workflow ?? undefined,
  requestStatus: row.status,
  requester: row.requester ?? undefined,
  approver: row.approver ?? undefined,
  certificateProfile: row.profile,
});
