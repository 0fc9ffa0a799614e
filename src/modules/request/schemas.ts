/** What the request operations take and answer, by workflow; so far `enroll` of module `webra`. */
import { z } from 'zod';
import { epochMs, id, localizedTexts, secretInput, text } from '../../kernel/schema.ts';
import { attributeTypes } from '../../lib/x509/name.ts';
import {
  cryptoPolicy,
  dnIndex,
  extensionTypes,
  keyTypeSchema,
  metadataKeys,
  passwordPolicy,
  sanTypes,
  triggerResult,
} from '../certificate/index.ts';
import { statuses } from './states.ts';

const notBuilt = (what: string) => ({ error: ({ input }: { input?: unknown }) => `${what} '${String(input)}' is not available yet` });
const webra = z.literal('webra', notBuilt('module'));
const enroll = z.literal('enroll', notBuilt('workflow'));
const modules = ['webra', 'est', 'scep', 'acme', 'crmp', 'acme-external', 'intune', 'jamf', 'intunepkcs'] as const;
const workflows = ['enroll', 'migrate', 'revoke', 'recover', 'renew', 'update', 'import'] as const;

const value = text.optional();
const held = <N extends string>(name: N) => z.object({ value }).meta({ id: name });

const enrollTemplate = z
  .object({
    subject: z.array(z.object({ element: dnIndex, value }).meta({ id: 'IndexedDNElement' })).max(100),
    sans: z
      .array(z.object({ type: z.enum(sanTypes).optional(), value: z.array(text).max(10_000).optional() }).meta({ id: 'ListSANElement' }))
      .max(100),
    extensions: z.array(z.object({ type: z.enum(extensionTypes), value }).meta({ id: 'CertificateExtensionElement' })).max(20),
    labels: z.array(z.object({ label: text, value }).meta({ id: 'RequestLabelElement' })).max(1_000),
    contactEmail: held('CertificateContactEmailElement'),
    owner: held('CertificateOwnerElement'),
    team: held('CertificateTeamElement'),
    metadata: z.array(z.object({ metadata: z.enum(metadataKeys), value }).meta({ id: 'CertificateMetadataElement' })).max(20),
    keyType: keyTypeSchema,
    csr: text,
    autoRenew: z.object({ value: z.boolean().optional() }).meta({ id: 'CertificateAutoRenewElement' }),
    asynchronous: z.boolean(),
  })
  .partial()
  .meta({ id: 'WebRAEnrollRequestTemplate' });
export type EnrollTemplateInput = z.infer<typeof enrollTemplate>;

const kind = { module: webra.default('webra'), workflow: enroll.default('enroll') };
const dryRun = z.boolean().default(false);

/** No profile has terms of service yet, so there is no text to add. */
export const templateQuery = z.object({ termsOfService: z.stringbool().optional() });
export const templateBody = z
  .object({
    ...kind,
    profile: text.optional(),
    certificateId: text.optional(),
    certificatePem: text.optional(),
    template: z.object({ csr: text.optional() }).optional(),
  })
  .meta({ id: 'WebRAEnrollRequestOnTemplate' });
export const submitBody = z
  .object({
    ...kind,
    profile: text,
    template: enrollTemplate.optional(),
    dryRun,
    password: secretInput.optional(),
    requesterComment: text.optional(),
  })
  .meta({ id: 'WebRAEnrollRequestOnSubmit' });

/** `id` is what an older client sends in place of `_id`. */
const named = { _id: text.optional(), id: text.optional() };
const isNamed = (body: { _id?: string | undefined; id?: string | undefined }) => (body._id ?? body.id) !== undefined;
const nameless = { path: ['_id'], error: 'required' };
export const approveBody = z
  .object({ ...kind, ...named, template: enrollTemplate.optional(), dryRun, approverComment: text.optional() })
  .refine(isNamed, nameless)
  .meta({ id: 'WebRAEnrollRequestOnApprove' });
const anyKind = { module: z.enum(modules).optional(), workflow: z.enum(workflows).optional() };
export const denyBody = z
  .object({ ...anyKind, ...named, approverComment: text.optional() })
  .refine(isNamed, nameless)
  .meta({ id: 'RequestDenyRequest' });
export const cancelBody = z
  .object({ ...anyKind, ...named })
  .refine(isNamed, nameless)
  .meta({ id: 'RequestCancelRequest' });

const dnTypes = attributeTypes.map(({ display }) => display);
const editing = { computationRule: value, mandatory: z.boolean().optional(), editable: z.boolean().optional() };
const described = z
  .object({
    subject: z.array(z.object({ element: dnIndex, type: z.enum(dnTypes).optional(), value, ...editing, regex: value })),
    sans: z.array(
      z.object({
        type: z.enum(sanTypes),
        value: z.array(text).optional(),
        computationRule: value,
        editable: z.boolean().optional(),
        regex: value,
        min: z.int().optional(),
        max: z.int().optional(),
      }),
    ),
    extensions: z.array(z.object({ type: z.enum(extensionTypes), value, ...editing, regex: value })),
    labels: z.array(
      z.object({
        label: text,
        displayName: localizedTexts,
        description: localizedTexts,
        value,
        ...editing,
        regex: value,
        enum: z.array(text).optional(),
        suggestions: z.array(text).optional(),
      }),
    ),
    contactEmail: z.object({ value, ...editing, regex: value, whitelist: z.array(text).optional(), description: localizedTexts }),
    owner: z.object({ value, ...editing, description: localizedTexts }),
    team: z.object({ value, ...editing, authorized: z.array(text).optional(), description: localizedTexts }),
    metadata: z.array(z.object({ metadata: z.enum(metadataKeys), value, editable: z.boolean().optional() })),
    capabilities: cryptoPolicy,
    passwordPolicy,
    autoRenew: z.object({ value: z.boolean(), editable: z.boolean() }),
    termsOfService: text,
  })
  .partial()
  .meta({ id: 'WebRAEnrollRequestTemplateResponse' });

const answeredKind = { module: z.literal('webra'), workflow: z.literal('enroll') };
export const templateAnswer = z
  .object({ ...answeredKind, profile: text, template: described })
  .meta({ id: 'WebRAEnrollRequestOnTemplateResponse' });

const anything = z.record(z.string(), z.unknown()).optional();
/** Optional keys without a source here are the contract's for what other enrollments bring: PKCS#12, slow authorities, triggers. */
export const requestAnswer = z
  .object({
    ...answeredKind,
    _id: id.optional(),
    status: z.enum(statuses).optional(),
    profile: text,
    dn: text.optional(),
    requester: value,
    team: value,
    approver: value,
    contact: value,
    requesterComment: value,
    approverComment: value,
    registrationDate: epochMs,
    lastModificationDate: epochMs,
    expirationDate: epochMs.optional(),
    removeAt: epochMs,
    triggerResults: z.array(triggerResult).optional(),
    holderId: text,
    globalHolderIdCount: z.int().optional(),
    profileHolderIdCount: z.int().optional(),
    labels: z.array(z.object({ key: text, value: text })).optional(),
    metadata: z.array(z.object({ key: z.enum(metadataKeys), value: text })).optional(),
    dryRun: z.boolean().optional(),
    template: described,
    pkcs12: anything,
    password: anything,
    certificate: anything,
    retryAt: epochMs.optional(),
    retryCount: z.int().optional(),
    externalId: anything,
    error: value,
  })
  .meta({ id: 'WebRAEnrollRequestResponse' });

export const profilesQuery = z.object({ module: text.optional(), workflow: text.optional() });
export const profilesAnswer = z.array(
  z
    .object({
      name: text,
      module: text,
      displayName: localizedTexts,
      description: localizedTexts,
      workflows: z.array(
        z
          .object({
            workflow: z.enum(['migrate', 'revoke', 'recover', 'enroll', 'renew', 'update']),
            request: z.boolean(),
            perform: z.boolean(),
          })
          .meta({ id: 'RequestableWorkflow' }),
      ),
      capabilities: z
        .object({
          centralized: z.boolean(),
          decentralized: z.boolean(),
          defaultKeyType: keyTypeSchema.optional(),
          authorizedKeyTypes: z.array(text).optional(),
          preferredEnrollmentMode: z.enum(['centralized', 'decentralized']).optional(),
          passwordPolicy: passwordPolicy.optional(),
          p12passwordMode: z.enum(['manual', 'random']).optional(),
        })
        .meta({ id: 'CertificateProfileCapabilities' }),
    })
    .meta({ id: 'RequestableCertificateProfileResponse' }),
);
