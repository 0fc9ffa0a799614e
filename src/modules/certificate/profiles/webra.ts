/** Profiles of the module webra: certificates that are asked for through the API. */
import { z } from 'zod';
import { duration, localizedTexts, names, text } from '../../../kernel/schema.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { cryptoPolicy } from './crypto-policy.ts';
import { certificateTemplate, computedElements } from './elements.ts';
import { authorizationLevels } from './levels.ts';

const triggerNames = z.array(z.string()).optional();
const laterTriggers = z
  .array(z.object({ name: z.string(), activationDate: z.int().optional() }).meta({ id: 'CertificateProfileAsynchronousTrigger' }))
  .optional();
const workflows = ['Enroll', 'Revoke', 'Update', 'Recover', 'Migrate', 'Renew'];
const triggerHooks = Object.fromEntries([
  ...workflows.flatMap((workflow) => [
    ...['', 'Submit', 'Cancel', 'Approve', 'Deny'].map((step) => [`on${step}${workflow}`, triggerNames]),
    [`onPending${workflow}`, laterTriggers],
  ]),
  ['onExpire', laterTriggers],
]) as Readonly<Record<string, typeof triggerNames | typeof laterTriggers>>;

const requestsPolicy = z
  .object({
    enroll: duration.optional(),
    revoke: duration.optional(),
    recover: duration.optional(),
    update: duration.optional(),
    migrate: duration.optional(),
    renew: duration.optional(),
  })
  .meta({ id: 'RequestsPolicy' });

const right = z.boolean().optional();
const selfPermissions = z
  .object({
    selfRecover: right,
    selfUpdate: right,
    selfRevoke: right,
    selfRenew: right,
    selfPopRenew: right,
    selfPopRevoke: right,
    selfPopUpdate: right,
  })
  .meta({ id: 'CertificateProfileSelfPermissions' });

const maxCertificatePerHolderPolicy = z
  .object({ max: z.int(), behavior: z.enum(['revoke', 'reject']), revocationReason: z.string().optional() })
  .meta({ id: 'MaxCertificatePerHolderPolicy' });
const validationRuleset = z.object({ rules: z.array(text), threshold: z.int() }).meta({ id: 'ValidationRuleset' });
const dataSourceInput = z.object({ key: z.string(), value: text.optional() }).meta({ id: 'DataSourceInput' });
const dataSourceFlowEntry = z
  .object({ ds: z.string(), inputs: z.array(dataSourceInput).optional(), stopOnSuccess: right, mandatory: right })
  .meta({ id: 'DataSourceFlowEntry' });

export const webraProfile = z
  .object({
    module: z.literal('webra', 'only webra is available yet'),
    name: names.dotted,
    displayName: localizedTexts,
    description: localizedTexts,
    authorizationMode: z.enum(['authorized', 'auto-validation', 'auto-validation-authorized']),
    enabled: z.boolean(),
    pkiConnector: z.string(),
    csrDataMapping: z.record(z.string(), text).optional(),
    maxCertificatePerHolderPolicy: maxCertificatePerHolderPolicy.optional(),
    authorizationLevels,
    triggers: z.object(triggerHooks).meta({ id: 'CertificateProfileTriggers' }).optional(),
    requestsPolicy,
    cryptoPolicy,
    selfPermissions,
    certificateTemplate,
    renewalPeriod: duration.optional(),
    gradingPolicies: z.array(z.string()).optional(),
    validationRuleset: validationRuleset.optional(),
    dsFlow: z.array(dataSourceFlowEntry).optional(),
    thirdPartyDiscoverySync: z.boolean().optional(),
    autoRenewalPolicy: z.object({ default: z.boolean(), editable: z.boolean() }).meta({ id: 'AutoRenewalPolicy' }).optional(),
    termsOfService: z.string().optional(),
  })
  .meta({ id: 'WebRAProfile' });
export type WebraProfile = Readonly<z.infer<typeof webraProfile>>;

const inCryptoPolicy = [
  'centralized',
  'escrow',
  'p12passwordPolicy',
  'p12passwordMode',
  'p12storeEncryptionType',
  'showP12PasswordOnEnroll',
  'showP12OnEnroll',
  'showP12PasswordOnRecover',
  'showP12OnRecover',
  'keyAvailability',
];

export const webraNotYet: readonly string[] = [
  'csrDataMapping',
  'maxCertificatePerHolderPolicy',
  'triggers',
  'renewalPeriod',
  'gradingPolicies',
  'validationRuleset',
  'dsFlow',
  'thirdPartyDiscoverySync',
  'autoRenewalPolicy',
  'termsOfService',
  'selfPermissions',
  'certificateTemplate.teamPolicy',
  'certificateTemplate.metadataPolicies',
  ...inCryptoPolicy.map((name) => `cryptoPolicy.${name}`),
];

/** The first value that asks for a part which is not built, where `notYet` cannot tell by its path alone. */
export function webraPartNotBuilt({
  authorizationMode,
  cryptoPolicy: keys,
  certificateTemplate: template,
}: WebraProfile): string | undefined {
  if (authorizationMode !== 'authorized') return `authorizationMode '${authorizationMode}'`;
  if (keys.preferredEnrollmentMode === 'centralized') return "cryptoPolicy.preferredEnrollmentMode 'centralized'";
  const hybrid = [keys.defaultKeyType, ...(keys.authorizedKeyTypes ?? [])].find((type) => type?.includes('+'));
  if (hybrid) return `hybrid key type '${hybrid}'`;
  const [computed] = computedElements(template);
  return computed && `'certificateTemplate.${computed}.computationRule'`;
}

export type Workflow = keyof WebraProfile['requestsPolicy'];
const lifeDefault = '7 days';

/** How long a request waits for a decision. */
export const requestLifeMs = ({ requestsPolicy: lives }: WebraProfile, workflow: Workflow): number =>
  parseDuration(lives[workflow] ?? lifeDefault)!;
