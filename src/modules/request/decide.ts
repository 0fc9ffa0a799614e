/** Deciding: a pending request is approved, denied or canceled, once. */
import { type Outcome, operation } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { authErrors, permissionErrors } from '../../kernel/errors.ts';
import { refuseParts } from '../../kernel/not-yet.ts';
import { findProfile } from '../certificate/index.ts';
import { editedEnrollment } from './enroll.ts';
import { enrollErrors, requestErrors } from './errors.ts';
import { detailsOf, type Issuer, moved } from './issue.ts';
import { presentRequest } from './present.ts';
import { findRequest, type RequestRow } from './requests.store.ts';
import { mayCancel, requireDecision } from './rights.ts';
import * as schemas from './schemas.ts';
import { after, type Move } from './states.ts';
import { allEnrollErrors, common, enabledProfile, factsOf, notYet } from './workflow.ts';

const moveErrors = [requestErrors.invalid, requestErrors.status, requestErrors.expired, requestErrors.notFound, requestErrors.unexpected];
export const approve = ({ intend }: Issuer) =>
  operation({
    ...common,
    id: 'request.approve',
    method: 'POST',
    path: '/api/v1/requests/approve',
    audit: { code: 'REQUEST-APPROVE', module: 'request' },
    body: schemas.approveBody,
    answers: { 200: schemas.requestAnswer },
    errors: [
      requestErrors.invalid,
      requestErrors.status,
      requestErrors.expired,
      requestErrors.notFound,
      requestErrors.profile,
      requestErrors.unexpected,
      ...allEnrollErrors,
    ],
    async run({ body }, context) {
      const row = await requireRequest(body, context);
      const { profile, revision } = await enabledProfile(row.profile, context);
      requireDecision(context, row, profile);
      requireMove(row, 'approve', context);
      if (row.profile_revision !== revision) throw enrollErrors.profileChanged();
      refuseParts(body.template, notYet, requestErrors.invalid);
      const enrolled = await editedEnrollment(profile, row.template, body.template ?? {}, context);
      const decision = {
        ...factsOf(enrolled, context),
        approver: context.principal.identifier ?? null,
        approver_comment: body.approverComment ?? null,
      };
      const { row: next, change } = moved(row, 'approve', decision, context);
      if (body.dryRun) return { dryRun: true, answer: { ...(await presentRequest(next, {}, context)), dryRun: true } };
      const { changes = [], ...rest } = await intend(next, enrolled, profile, { status: 200 }, context);
      return { ...rest, changes: [change, ...changes], details: detailsOf(next) };
    },
  });

export const deny = operation({
  ...common,
  id: 'request.deny',
  method: 'POST',
  path: '/api/v1/requests/deny',
  audit: { code: 'REQUEST-DENY', module: 'request' },
  body: schemas.denyBody,
  answers: { 200: schemas.requestAnswer },
  errors: moveErrors,
  async run({ body }, context) {
    const row = await requireRequest(body, context);
    const profile = await findProfile(row.profile, context.configuration);
    if (!profile) throw requestErrors.notFound();
    requireDecision(context, row, profile.body);
    requireMove(row, 'deny', context);
    return ended(row, 'deny', { approver: context.principal.identifier ?? null, approver_comment: body.approverComment ?? null }, context);
  },
});

export const cancel = operation({
  ...common,
  id: 'request.cancel',
  method: 'POST',
  path: '/api/v1/requests/cancel',
  audit: { code: 'REQUEST-CANCEL', module: 'request' },
  body: schemas.cancelBody,
  answers: { 200: schemas.requestAnswer },
  errors: moveErrors,
  async run({ body }, context) {
    const row = await requireRequest(body, context);
    if (context.principal.identifier === undefined) throw authErrors.nobody();
    if (!mayCancel(context.principal, row)) throw permissionErrors.denied('only who asked, the owner or their team may cancel a request');
    requireMove(row, 'cancel', context);
    return ended(row, 'cancel', {}, context);
  },
});

async function requireRequest(
  body: { readonly _id?: string | undefined; readonly id?: string | undefined },
  context: Context,
): Promise<RequestRow> {
  const id = body._id ?? body.id ?? '';
  const row = await findRequest(id, context);
  if (!row) throw requestErrors.notFound(`'${id}'`);
  return row;
}

function requireMove(row: RequestRow, move: Move, { now }: Context): void {
  if (!after(row.status, move)) throw requestErrors.status(`the request is ${row.status}`);
  if (row.expiration_date! <= now()) throw requestErrors.expired(`its life ended at ${new Date(row.expiration_date!).toISOString()}`);
}

async function ended(row: RequestRow, move: Move, set: Partial<RequestRow>, context: Context): Promise<Outcome> {
  const { row: next, change } = moved(row, move, set, context);
  return { answer: await presentRequest(next, {}, context), changes: [change], details: detailsOf(next) };
}
