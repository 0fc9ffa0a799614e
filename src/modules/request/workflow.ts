/** What the doors of the request workflow share. */
import type { Context } from '../../kernel/context.ts';
import { findProfile, type WebraProfile } from '../certificate/index.ts';
import type { Enrollment } from './enroll.ts';
import { elementErrors, enrollErrors, requestErrors } from './errors.ts';

export const common = {
  tag: 'request',
  capabilities: ['webra'],
  class: 'lifecycle',
  permission: 'by-object',
  invalid: requestErrors.invalid,
  unexpected: requestErrors.unexpected,
} as const;
export const allEnrollErrors = [...Object.values(enrollErrors), ...Object.values(elementErrors)];

/** Parts of what may be submitted that other enrollments bring. */
export const notYet = ['autoRenew', 'asynchronous', 'team.value', 'metadata'];

export interface Enabled {
  readonly profile: WebraProfile;
  readonly revision: number;
}

/** `status` is that of the refusal: operations differ in it. */
export async function enabledProfile(name: string, context: Context, status = 404): Promise<Enabled> {
  const stored = await findProfile(name, context.configuration);
  if (!stored?.body.enabled) throw requestErrors.profile.at(status)(`'${name}'`);
  return { profile: stored.body, revision: stored.revision };
}

/** What a request says of the certificate to be; an approver's edits change it. */
export const factsOf = ({ template, dn, holderId }: Enrollment, { principal }: Context) => ({
  template,
  dn,
  holder_id: holderId,
  labels: Object.fromEntries(template.elements.labels.map(({ label, value }) => [label, value])),
  owner: template.elements.owner?.value ?? null,
  contact: template.elements.contactEmail?.value ?? principal.email ?? null,
});
