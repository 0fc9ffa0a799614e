/** A request as callers see it: the superset of what clients read (clients.md 2) on every answer. */
import type { Context } from '../../kernel/context.ts';
import {
  type CertificateRow,
  describe,
  type Editor,
  findCertificate,
  openTemplate,
  presentCertificate,
  type WebraProfile,
} from '../certificate/index.ts';
import type { RequestRow } from './requests.store.ts';

/** With the profile its template is described, editing facts of `by` included; without it the values alone are shown. */
export interface Shown {
  readonly profile?: WebraProfile | undefined;
  readonly by?: Editor;
  /** That the request led to, when it is at hand. */
  readonly certificate?: CertificateRow;
}

export async function presentRequest(
  row: RequestRow,
  { profile, by = 'requester', certificate }: Shown,
  context: Context,
): Promise<Record<string, unknown>> {
  const issued = certificate ?? (row.certificate_id === null ? undefined : await findCertificate(row.certificate_id, context));
  const { elements } = row.template;
  return withoutNulls({
    _id: row.id,
    module: row.module,
    workflow: row.workflow,
    status: row.status,
    profile: row.profile,
    dn: row.dn,
    requester: row.requester,
    team: row.team,
    approver: row.approver,
    contact: row.contact,
    requesterComment: row.requester_comment,
    approverComment: row.approver_comment,
    registrationDate: row.registration_date,
    lastModificationDate: row.last_modification_date,
    expirationDate: row.expiration_date,
    removeAt: row.remove_at,
    holderId: row.holder_id,
    labels: Object.entries(row.labels).map(([key, value]) => ({ key, value })),
    metadata: [],
    template: profile ? describe(await openTemplate(profile.certificateTemplate, context.configuration), elements, by) : elements,
    certificate: issued && presentCertificate(issued),
    error: row.error,
  });
}

const withoutNulls = (answer: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null && value !== undefined));
