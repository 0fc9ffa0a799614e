/** Local identities: accounts whose passwords are kept here, as hashes that nobody is shown. */
import { z } from 'zod';
import { operation } from '../../kernel/action.ts';
import { defineCollection, writeDocument } from '../../kernel/collection.ts';
import type { Context } from '../../kernel/context.ts';
import { defineErrors, permissionErrors } from '../../kernel/errors.ts';
import { needs, sections } from '../../kernel/permission.ts';
import { text } from '../../kernel/schema.ts';
import { keepAdministrator } from './administrators.ts';
import { type LocalIdentity, localTag } from './documents.ts';
import { requireNoMore } from './grants.ts';
import { identifier } from './identifier.ts';
import { hashPassword, password, verifyPassword } from './passwords.ts';
import { findLocalProvider } from './providers.ts';

const path = '/api/v1/security/identity/locals';

export const localErrors = defineErrors('LOCAL-ID', {
  internal: ['001', 500, 'Unexpected error'],
  invalid: ['002', 400, 'Invalid Local Identity'],
  notFound: ['003', 404, 'Local Identity not found'],
  exists: ['004', 400, 'Local Identity already exists'],
  providerType: ['005', 403, 'Invalid Identity Provider Type'],
  setPassword: ['007', 400, 'Invalid Set Password Request'],
  noProvider: ['009', 401, 'Local Identity provider not found or disabled'],
  policy: ['010', 401, 'Password does not match the Password policy'],
});
const { noProvider, policy } = localErrors;

const schema = z.object({ identifier, email: text.optional(), name: text.optional() }).meta({ id: 'LocalIdentity' });
/** An empty password is none: one client sends it. */
const addSchema = schema.extend({ password: z.literal('').or(password).optional() }).meta({ id: 'LocalIdentityOnAdd' });
type Draft = z.infer<typeof addSchema>;

async function requireProvider({ configuration }: Context): Promise<void> {
  if (!(await findLocalProvider(configuration))) throw noProvider();
}

async function accept({ password: secret, ...draft }: Draft, context: Context, stored?: LocalIdentity): Promise<LocalIdentity> {
  await requireProvider(context);
  if (!stored && secret) await requireNoMore(draft.identifier, context);
  const hash = stored ? stored.hash : secret ? await hashPassword(secret, context) : undefined;
  return { ...draft, hash };
}

const setPasswordBody = z
  .object({ identifier: identifier.optional(), password, previousPassword: z.string().max(1000).optional() })
  .meta({ id: 'SetPasswordRequest' });
type SetPassword = z.infer<typeof setPasswordBody>;

/** Throws unless the caller knows the password that is to be replaced, or may manage the accounts of others and do all that this one may. */
async function mayReplace(
  key: string,
  identity: LocalIdentity | undefined,
  { previousPassword }: SetPassword,
  context: Context,
): Promise<void> {
  const { principal } = context;
  if (key !== principal.identifier) {
    const required = needs(sections.localIdentity, 'manage');
    if (!required.some((value) => principal.grant(value)))
      throw permissionErrors.denied(`${principal.identifier} lacks ${required.join(' or ')}`);
    return requireNoMore(key, context);
  }
  if (principal.provider?.type !== 'Local') throw localErrors.providerType('you are not logged in with a local identity');
  if (previousPassword === undefined) throw localErrors.setPassword('previousPassword: is needed to change your own password');
  if (!(await verifyPassword(identity?.hash, previousPassword))) throw localErrors.setPassword('previousPassword: does not match');
}

const setPassword = operation<SetPassword>({
  tag: localTag,
  class: 'configuration',
  id: 'security.identity.local.password.set',
  method: 'PATCH',
  path,
  permission: 'authenticated',
  audit: { code: 'SEC-LOCAL-IDENTITY-UPDATE', module: 'security' },
  capabilities: ['webra', 'events', 'configuration'],
  body: setPasswordBody,
  invalid: localErrors.setPassword,
  unexpected: localErrors.internal,
  errors: [
    localErrors.setPassword,
    localErrors.notFound,
    localErrors.providerType,
    noProvider,
    policy,
    policy.at(400),
    localErrors.internal,
  ],
  answers: { 204: null },
  async run({ body }, context) {
    const { configuration, principal, newId } = context;
    await requireProvider(context);
    const key = body.identifier ?? principal.identifier!;
    const before = await configuration.get<LocalIdentity>(localTag, key);
    await mayReplace(key, before?.body, body, context);
    if (!before) throw localErrors.notFound(`'${key}' does not exist`);
    const after = { ...before.body, hash: await hashPassword(body.password, context) };
    return { changes: writeDocument({ tag: localTag }, { key, body: after, newId }, before).changes, details: { identifier: key } };
  },
});

export const locals = defineCollection<Draft, LocalIdentity>({
  tag: localTag,
  id: localTag,
  path,
  key: 'identifier',
  schema: addSchema,
  updateSchema: schema,
  answer: schema,
  errors: localErrors,
  moreErrors: {
    list: [noProvider, policy],
    get: [noProvider],
    create: [noProvider, policy],
    update: [noProvider, policy],
    delete: [noProvider, permissionErrors.self],
  },
  section: sections.localIdentity,
  audit: { module: 'security', add: 'SEC-LOCAL-IDENTITY-ADD', update: 'SEC-LOCAL-IDENTITY-UPDATE', delete: 'SEC-LOCAL-IDENTITY-DELETE' },
  accept,
  present: ({ hash, ...shown }) => shown,
  async release({ identifier: key }, context) {
    if (key === context.principal.identifier) throw permissionErrors.self();
    await requireProvider(context);
    await keepAdministrator({ collection: localTag, key }, context);
  },
  extras: [setPassword],
});
