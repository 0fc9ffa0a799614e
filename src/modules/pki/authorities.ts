/** Certificate authorities: the certificates that chains are made of. They come in as PEM and are answered taken apart. */
import { z } from 'zod';
import { defineCollection } from '../../kernel/collection.ts';
import type { Configuration } from '../../kernel/configuration.ts';
import { collectionErrors } from '../../kernel/errors.ts';
import { sections } from '../../kernel/permission.ts';
import { duration, names, text } from '../../kernel/schema.ts';
import { DerError } from '../../lib/der/read.ts';
import { parseDuration } from '../../lib/duration.ts';
import { type Certificate, parseCertificate } from '../../lib/x509/certificate.ts';
import { encodePem, parsePem } from '../../lib/x509/pem.ts';
import { type Chains, createChains } from './chain.ts';
import { decodedCertificate, decodedCertificateSchema, keyIdentifierOf } from './decoded-certificate.ts';

const tag = 'ca';
const errors = collectionErrors('CA', 'Certificate Authority', { referenced: 403 });

const atMost = (limit: string) =>
  duration.refine((value) => (parseDuration(value) ?? 0) <= parseDuration(limit)!, `at most ${limit}`).optional();

const settings = {
  name: names.spaced,
  subjectKeyIdentifier: text.optional(),
  responderUrl: text.optional(),
  crlUrl: text.optional(),
  refresh: atMost('7 days'),
  trustedForClientAuthentication: z.boolean().default(false),
  trustedForServerAuthentication: z.boolean().default(false),
  outdatedRevocationStatusPolicy: z.enum(['revoked', 'unknown', 'lastavailablestatus']).default('unknown'),
  timeout: atMost('5 minutes'),
  proxy: text.optional(),
  cacheTimeToIdle: duration.optional(),
  public: z.boolean().default(false),
  downloadable: z.boolean().default(false),
  identifierMapping: text.optional(),
  nameMapping: text.optional(),
  emailMapping: text.optional(),
};

/** Who sends back what was answered sends it taken apart. */
const pem = z.preprocess((value) => (typeof value === 'object' && value !== null && 'pem' in value ? value.pem : value), text);

const authority = z.object({ ...settings, certificate: pem }).meta({ id: 'CertificateAuthorityRequest' });
const answer = z.object({ ...settings, certificate: decodedCertificateSchema }).meta({ id: 'CertificateAuthorityResponse' });

/** `certificate` is PEM with the one certificate and nothing else, so two texts are the same for the same certificate alone. */
export type CertificateAuthority = Readonly<z.infer<typeof authority>>;

export const authorities = defineCollection<CertificateAuthority>({
  tag,
  id: 'ca',
  path: '/api/v1/cas',
  detail: 'ca',
  schema: authority,
  answer,
  errors,
  section: sections.authority,
  notYet: ['crlUrl', 'responderUrl', 'proxy', 'trustedForClientAuthentication', 'identifierMapping', 'nameMapping', 'emailMapping'],
  async accept({ subjectKeyIdentifier: _computed, ...draft }, { configuration }, stored) {
    if (stored) return { ...draft, certificate: stored.certificate };
    const certificate = encodePem('CERTIFICATE', readAuthority(draft.certificate).der);
    const twin = (await configuration.list<CertificateAuthority>(tag)).find(({ body }) => body.certificate === certificate);
    if (twin) throw errors.exists(`'${twin.body.name}' has the same certificate`);
    return { ...draft, certificate };
  },
  present(stored) {
    const certificate = parsed(stored);
    return { ...stored, subjectKeyIdentifier: keyIdentifierOf(certificate), certificate: decodedCertificate(certificate) };
  },
});

function readAuthority(text: string): Certificate {
  const certificate = readCertificate(text);
  if (!certificate.extensions.basicConstraints?.isCa) throw errors.invalid('certificate: is not the certificate of an authority');
  if (certificate.publicKey.keyType === undefined) throw errors.invalid('certificate: its key is of no supported type');
  return certificate;
}

function readCertificate(text: string): Certificate {
  try {
    const [block, ...others] = parsePem(text);
    if (block?.label !== 'CERTIFICATE' || others.length > 0) throw errors.invalid('certificate: one certificate is expected as PEM');
    return parseCertificate(block.der);
  } catch (error) {
    throw error instanceof DerError ? errors.invalid(`certificate: ${error.message}`, { cause: error }) : error;
  }
}

const parsed = ({ certificate }: CertificateAuthority): Certificate => parseCertificate(parsePem(certificate)[0]!.der);

/** The chains that all authorities make; remembered until any document changes. */
const chainsOf = (configuration: Configuration): Promise<Chains> =>
  configuration.memo(`${tag} chains`, async () =>
    createChains((await configuration.list<CertificateAuthority>(tag)).map(({ body }) => parsed(body))),
  );

/** What is above a certificate (DER), its issuer first, as far as the authorities go. */
export async function findChain(certificate: Uint8Array, configuration: Configuration): Promise<readonly Uint8Array[]> {
  return (await chainsOf(configuration)).above(parseCertificate(certificate)).map(({ der }) => der);
}
