/** The first start: the local provider, and the administrator who can make everything else. All of it or nothing, and once for all processes. */
import { z } from 'zod';
import type { Action } from '../../kernel/action.ts';
import { writeDocument } from '../../kernel/collection.ts';
import type { Context } from '../../kernel/context.ts';
import type { EventCode } from '../../kernel/event.ts';
import type { Performer } from '../../kernel/perform.ts';
import {
  type IdentityProvider,
  type LocalIdentity,
  localTag,
  type PrincipalInfo,
  principalInfoDocuments,
  providerTag,
} from './documents.ts';
import { localErrors } from './locals.ts';
import { hashPassword, password } from './passwords.ts';

const administrator = 'administrator';
const provider: IdentityProvider = { type: 'Local', name: 'local', enabled: true };
const everything = ['configuration:*', 'discovery:*', 'lifecycle:*'].map((value) => ({ value }));

const body = z.object({ password: password.optional() });
type Body = z.infer<typeof body>;

export interface Bootstrapped {
  readonly created: boolean;
  /** Only when it was generated: shown once, kept nowhere. */
  readonly password?: string;
}

export const bootstrapAction: Action<Body> = {
  id: 'security.bootstrap',
  permission: 'internal',
  class: 'configuration',
  audit: { code: 'BOOTSTRAP-ADMINISTRATOR-ACCOUNT', module: 'bootstrap' },
  body,
  invalid: localErrors.invalid,
  unexpected: localErrors.internal,
  errors: [],
  async run({ body: given }, context) {
    const { configuration, newId, now } = context;
    if (await configuration.get(providerTag, provider.name)) return { answer: { created: false } satisfies Bootstrapped, dryRun: true };
    const secret = given.password ?? Buffer.from(context.random(18)).toString('base64url');
    const identity: LocalIdentity = { identifier: administrator, name: 'Administrator', hash: await hashPassword(secret, context) };
    const at = now();
    const info: PrincipalInfo = {
      identifier: administrator,
      permissions: everything,
      roles: [],
      enabled: true,
      creationDate: at,
      lastModification: at,
    };
    const changes = [
      writeDocument({ tag: providerTag }, { key: provider.name, body: provider, newId }),
      writeDocument({ tag: localTag }, { key: administrator, body: identity, newId }),
      writeDocument(principalInfoDocuments, { key: administrator, body: info, newId }),
    ].flatMap((written) => written.changes);
    const answer: Bootstrapped = { created: true, ...(given.password === undefined ? { password: secret } : {}) };
    return { answer, changes, details: { identifier: administrator } };
  },
};

export async function bootstrap(
  context: Context,
  performer: Performer,
  given: { readonly password?: string | undefined },
): Promise<Bootstrapped> {
  const reply = await performer.perform(bootstrapAction, { params: {}, query: {}, body: given }, context);
  if (reply.status !== 200) throw new Error(`the first administrator could not be made: ${JSON.stringify(reply.body)}`);
  const made = reply.body as Bootstrapped;
  if (!made.created) return made;
  const also = (code: EventCode, details: Readonly<Record<string, string>>) =>
    performer.note({ code, module: 'bootstrap', status: 'success', details }, context);
  await also('BOOTSTRAP-LOCAL-IDENTITY-PROVIDER', { idpName: provider.name });
  await also('BOOTSTRAP-ADMINISTRATOR-PRINCIPAL', { identifier: administrator });
  return made;
}
