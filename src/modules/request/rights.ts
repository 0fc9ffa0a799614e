/** Who may do what to a request: the levels of its profile (semantics 3.2), asked of `kernel/authorize.ts` alone. */
import type { Context } from '../../kernel/context.ts';
import { authErrors, permissionErrors, type ServiceError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import { decide, holds, type Right, type WebraProfile } from '../certificate/index.ts';
import type { RequestRow } from './requests.store.ts';

export const mayEnroll = (principal: Principal, profile: WebraProfile): { readonly perform: boolean; readonly request: boolean } => ({
  perform: holds(principal, profile, 'enroll') || holds(principal, profile, 'enrollApi'),
  request: holds(principal, profile, 'requestEnroll'),
});

/** What a caller is told who lacks `right`. */
export function refused({ principal }: Context, profile: WebraProfile, right: Right): ServiceError {
  const decision = decide(principal, profile, right);
  if (decision.allowed) throw new Error(`${right} is not refused`);
  return decision.nobody ? authErrors.nobody() : permissionErrors.denied(decision.why);
}

const belongsTo = ({ identifier, teams }: Principal, { requester, owner, team }: RequestRow): boolean =>
  (identifier !== undefined && (identifier === requester || identifier === owner)) || (team !== null && teams.includes(team));

export const mayCancel = belongsTo;

export const maySee = (principal: Principal, request: RequestRow, profile: WebraProfile | undefined): boolean =>
  belongsTo(principal, request) ||
  (profile !== undefined && (holds(principal, profile, 'auditRequest') || holds(principal, profile, 'approveEnroll')));

/** Throws unless the caller may approve or deny; never their own request. */
export function requireDecision(context: Context, request: RequestRow, profile: WebraProfile): void {
  if (!holds(context.principal, profile, 'approveEnroll')) throw refused(context, profile, 'approveEnroll');
  if (request.requester !== null && request.requester === context.principal.identifier) {
    throw permissionErrors.denied('nobody decides on their own request');
  }
}
