/** Certificates as answers hold them, in the words of the contract. */
import { z } from 'zod';
import { duration, epochMs, id, text } from '../../kernel/schema.ts';
import { keyTypeSchema } from './profiles/crypto-policy.ts';
import { extensionTypes, metadataKeys, sanTypes } from './profiles/elements.ts';

const workflows = ['enroll', 'revoke', 'update', 'recover', 'migrate', 'renew'] as const;
const steps = ['on', 'on_submit', 'on_cancel', 'on_approve', 'on_deny', 'on_pending'] as const;
const triggerEvents = [...workflows.flatMap((workflow) => steps.map((step) => `${step}_${workflow}` as const)), 'on_expire'] as const;

export const triggerResult = z
  .object({
    name: z.string(),
    event: z.enum(triggerEvents),
    triggerType: z.enum(['aws', 'email', 'f5client', 'ldappub', 'intunepkcs', 'akv', 'webhook']),
    lastExecutionDate: epochMs,
    status: z.enum(['success', 'failure']),
    retries: z.int().optional(),
    nextExecutionDate: epochMs.optional(),
    nextDelay: duration.optional(),
    detail: text.optional(),
    retryable: z.boolean(),
  })
  .meta({ id: 'TriggerResult' });

const atLeast = z.int().min(0).optional();
export const passwordPolicy = z
  .object({
    name: z.string(),
    minChar: z.int().min(0),
    maxChar: atLeast,
    minUpChar: atLeast,
    minLoChar: atLeast,
    minDiChar: atLeast,
    spChar: z.string().optional(),
    minSpChar: atLeast,
  })
  .meta({ id: 'PasswordPolicy' });

const discoveryInfo = z
  .object({ campaign: z.string(), lastDiscoveryDate: epochMs, identifier: z.string().optional() })
  .meta({ id: 'DiscoveryInfo' });
const tlsPort = z.object({ port: z.int(), version: z.string() }).meta({ id: 'TlsPort' });
const found = z.array(z.string()).optional();
const hostDiscoveryData = z
  .object({
    ip: z.string().optional(),
    sources: found,
    hostnames: found,
    operatingSystems: found,
    paths: found,
    usages: found,
    tlsPorts: z.array(tlsPort).optional(),
  })
  .meta({ id: 'HostDiscoveryData' });
const thirdPartyItem = z
  .object({
    connector: z.string(),
    id: z.string(),
    fingerprint: z.string().optional(),
    pushDate: epochMs.optional(),
    removeDate: epochMs.optional(),
  })
  .meta({ id: 'ThirdPartyItem' });
const subjectAlternateName = z.object({ sanType: z.enum(sanTypes), value: z.string() }).meta({ id: 'SubjectAlternateName' });
const certificateMetadata = z.object({ key: z.enum(metadataKeys), value: z.string() }).meta({ id: 'CertificateMetadata' });
const certificateExtension = z.object({ key: z.enum(extensionTypes), value: z.string() }).meta({ id: 'CertificateExtension' });
const labelData = z.object({ key: z.string(), value: z.string() }).meta({ id: 'LabelData' });
const gradingPolicyResult = z.object({ name: z.string(), grade: z.string() }).meta({ id: 'GradingPolicyResult' });
const escrowedPrivateKey = z
  .object({ horizonKey: z.string(), value: z.string().optional(), vaultKey: z.string().optional(), transient: z.boolean().optional() })
  .meta({ id: 'EscrowedPrivateKey' });

/** What the certificate and its stay here say, whichever answer it stands in. */
const facts = {
  _id: id,
  module: z.string(),
  dn: z.string(),
  serial: z.string(),
  issuer: z.string(),
  notBefore: epochMs,
  notAfter: epochMs,
  thumbprint: z.string(),
  publicKeyThumbprint: z.string(),
  keyType: keyTypeSchema,
  signingAlgorithm: z.string(),
  selfSigned: z.boolean(),
  holderId: z.string(),
  /** PEM. */
  certificate: z.string(),
  subjectAlternateNames: z.array(subjectAlternateName),
  metadata: z.array(certificateMetadata),
};
const circumstances = {
  owner: z.string(),
  team: z.string(),
  contactEmail: z.string(),
  labels: z.array(labelData),
  revocationDate: epochMs,
  revocationReason: z.string(),
  discoveredTrusted: z.boolean(),
  discoveryInfo: z.array(discoveryInfo),
  discoveryData: z.array(hostDiscoveryData),
  thirdPartyData: z.array(thirdPartyItem),
  triggerResults: z.array(triggerResult),
  grades: z.array(gradingPolicyResult),
};

export const certificateResponse = z
  .object({
    ...facts,
    ...z.object(circumstances).partial().shape,
    profile: z.string().nullable(),
    revoked: z.boolean(),
    escrowed: z.boolean(),
    crlSynchronized: z.boolean().optional(),
    extensions: z.array(certificateExtension).optional(),
  })
  .meta({ id: 'CertificateResponse' });

const may = z.boolean();
export const certificatePermissions = z
  .object({
    enroll: may.optional(),
    requestEnroll: may.optional(),
    revoke: may,
    requestRevoke: may,
    update: may,
    requestUpdate: may,
    recover: may.optional(),
    requestRecover: may.optional(),
    migrate: may,
    requestMigrate: may,
    renew: may.optional(),
    requestRenew: may.optional(),
  })
  .meta({ id: 'CertificatePermissions' });

export const certificateWithPermissions = z
  .object({ certificate: certificateResponse, permissions: certificatePermissions })
  .meta({ id: 'CertificateWithPermissionsResponse' });

const certificateSearchResult = z
  .object({
    ...facts,
    ...circumstances,
    profile: z.string(),
    autoRenew: z.boolean(),
    privateKey: escrowedPrivateKey,
    permissions: certificatePermissions,
    escrowed: z.boolean(),
    removeAt: epochMs,
  })
  .partial()
  .meta({ id: 'CertificateSearchResult' });

export const certificateSearchResults = z
  .object({
    results: z.array(certificateSearchResult),
    pageIndex: z.int(),
    pageSize: z.int(),
    count: z.int().optional(),
    hasMore: z.boolean(),
  })
  .meta({ id: 'CertificateSearchResultsResponse' });

export const certificateFindRequest = z.union([
  z.object({ id }).meta({ id: 'FindCertificateById' }),
  z.object({ pem: text }).meta({ id: 'FindCertificateByPem' }),
]);
