/** Asking: what a request of a profile would hold, and the request itself. */
import { operation } from '../../kernel/action.ts';
import { insert } from '../../kernel/change.ts';
import type { Context } from '../../kernel/context.ts';
import { refuseParts } from '../../kernel/not-yet.ts';
import { describe, openTemplate, prefill, requestLifeMs } from '../certificate/index.ts';
import { type Enrollment, enrollment, proposedBy, readCsr } from './enroll.ts';
import { enrollErrors, requestErrors } from './errors.ts';
import { detailsOf, type Issuer } from './issue.ts';
import { presentRequest } from './present.ts';
import { type RequestRow, requestTable } from './requests.store.ts';
import { mayEnroll, refused } from './rights.ts';
import * as schemas from './schemas.ts';
import type { Status } from './states.ts';
import { allEnrollErrors, common, type Enabled, enabledProfile, factsOf, notYet } from './workflow.ts';

export const template = operation({
  ...common,
  id: 'request.template',
  method: 'POST',
  path: '/api/v1/requests/template',
  audit: 'not-audited',
  query: schemas.templateQuery,
  body: schemas.templateBody,
  answers: { 200: schemas.templateAnswer },
  errors: [requestErrors.invalid, requestErrors.profile.at(400), requestErrors.workflow, requestErrors.unexpected, enrollErrors.csr],
  async run({ body }, context) {
    const { profile } = await enabledProfile(body.profile ?? '', context, 400);
    const { perform, request } = mayEnroll(context.principal, profile);
    if (!perform && !request) throw requestErrors.workflow();
    refuseParts(body, ['certificateId', 'certificatePem'], requestErrors.invalid);
    const template = await openTemplate(profile.certificateTemplate, context.configuration);
    const csr = body.template?.csr === undefined ? undefined : proposedBy(readCsr(body.template.csr));
    return {
      answer: {
        module: 'webra',
        workflow: 'enroll',
        profile: profile.name,
        template: describe(template, prefill(template, csr), 'requester'),
      },
    };
  },
});

export const submit = ({ intend }: Issuer) =>
  operation({
    ...common,
    id: 'request.submit',
    method: 'POST',
    path: '/api/v1/requests/submit',
    audit: { code: 'REQUEST-SUBMIT', module: 'request' },
    body: schemas.submitBody,
    answers: { 201: schemas.requestAnswer },
    errors: [requestErrors.invalid, requestErrors.profile, requestErrors.unexpected, ...allEnrollErrors],
    async run({ body }, context) {
      const { profile, revision } = await enabledProfile(body.profile, context);
      const { perform, request } = mayEnroll(context.principal, profile);
      if (!perform && !request) throw refused(context, profile, 'requestEnroll');
      refuseParts(body.template, notYet, requestErrors.invalid);
      const enrolled = await enrollment(profile, body.template ?? {}, !perform, context);
      const row = newRequest(
        enrolled,
        { profile, revision },
        { status: perform ? 'approved' : 'pending', comment: body.requesterComment },
        context,
      );
      if (body.dryRun) return { status: 201, dryRun: true, answer: { ...(await presentRequest(row, {}, context)), dryRun: true } };
      const written = insert(requestTable, row);
      if (!perform) return { status: 201, changes: [written], details: detailsOf(row), answer: await presentRequest(row, {}, context) };
      const { changes = [], ...rest } = await intend(row, enrolled, profile, { status: 201 }, context);
      return { ...rest, changes: [written, ...changes], details: detailsOf(row) };
    },
  });

const dayMs = 86_400_000;
const expiredDaysKept = 30;

function newRequest(
  enrolled: Enrollment,
  { profile, revision }: Enabled,
  { status, comment }: { readonly status: Status; readonly comment: string | undefined },
  context: Context,
): RequestRow {
  const now = context.now();
  const expiration = now + requestLifeMs(profile, 'enroll');
  return {
    id: context.newId(),
    revision: 1,
    module: profile.module,
    workflow: 'enroll',
    status,
    profile: profile.name,
    profile_revision: revision,
    requester: context.principal.identifier ?? null,
    team: null,
    approver: null,
    requester_comment: comment ?? null,
    approver_comment: null,
    registration_date: now,
    last_modification_date: now,
    expiration_date: expiration,
    remove_at: expiration + expiredDaysKept * dayMs,
    metadata: {},
    certificate_id: null,
    error: null,
    ...factsOf(enrolled, context),
  };
}
