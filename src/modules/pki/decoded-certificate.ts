/** A certificate taken apart for people and clients: the contract's `CFCertificateResponse`. */
import { z } from 'zod';
import { epochMs } from '../../kernel/schema.ts';
import { toHex } from '../../lib/der/octets.ts';
import { algorithmName } from '../../lib/x509/algorithm.ts';
import { subjectKeyIdentifier } from '../../lib/x509/build.ts';
import { type Certificate, sha1Hex, sha256Hex } from '../../lib/x509/certificate.ts';
import { type Extensions, isCritical } from '../../lib/x509/extensions.ts';
import { formatDn } from '../../lib/x509/name.ts';
import { encodePem } from '../../lib/x509/pem.ts';
import { isSelfSigned } from './chain.ts';

const microsoftKinds = ['ms_sid', 'ms_template', 'ms_template_v2'] as const;
const sanTypes = ['RFC822NAME', 'DNSNAME', 'URI', 'IPADDRESS', 'OTHERNAME_UPN', 'OTHERNAME_GUID', 'REGISTERED_ID'] as const;
const texts = z.array(z.string());

export const decodedCertificateSchema = z
  .object({
    dn: z.string(),
    dnElements: z.array(z.object({ type: z.string(), value: z.string() }).meta({ id: 'CFDistinguishedName' })),
    issuerDn: z.string(),
    serial: z.string().optional(),
    notBefore: epochMs,
    notAfter: epochMs,
    keyType: z.string(),
    signingAlgorithm: z.string(),
    pem: z.string(),
    subjectKeyIdentifier: z.string(),
    certificateThumbprint: z.string(),
    certificateSHAOneThumbprint: z.string(),
    publicKeyThumbprint: z.string(),
    keyUsages: texts,
    isKeyUsagesCritical: z.boolean(),
    extendedKeyUsages: texts,
    isExtendedKeyUsagesCritical: z.boolean(),
    selfSigned: z.boolean(),
    sans: z.array(z.object({ sanType: z.enum(sanTypes), value: z.string() }).meta({ id: 'SubjectAlternateName' })).optional(),
    basicConstraints: z
      .object({ isCa: z.boolean(), pathLen: z.int().optional() })
      .meta({ id: 'CFCertificateResponseBasicConstraints' })
      .optional(),
    extensions: z.array(z.object({ key: z.enum(microsoftKinds), value: z.string() }).meta({ id: 'CertificateExtension' })).optional(),
    crldps: texts.optional(),
    aias: z.object({ ocsp: texts.optional(), crt: texts.optional() }).meta({ id: 'CFCertificateResponseAias' }).optional(),
    policies: z.array(z.object({ oid: z.string(), urls: texts.optional() }).meta({ id: 'CFCertificateResponsePoliciesInner' })).optional(),
    authorityKeyIdentifier: z.string().optional(),
    unsupportedExtensions: z
      .array(z.object({ oid: z.string(), hex: z.string() }).meta({ id: 'CFCertificateResponseUnsupportedExtensionsInner' }))
      .optional(),
  })
  .meta({ id: 'CFCertificateResponse' });

export type DecodedCertificate = Readonly<z.infer<typeof decodedCertificateSchema>>;

/** RFC 5280 §4.2.1.12; other purposes are shown as dotted identifiers. */
const purposeNames: ReadonlyMap<string, string> = new Map([
  ['2.5.29.37.0', 'anyExtendedKeyUsage'],
  ['1.3.6.1.5.5.7.3.1', 'serverAuth'],
  ['1.3.6.1.5.5.7.3.2', 'clientAuth'],
  ['1.3.6.1.5.5.7.3.3', 'codeSigning'],
  ['1.3.6.1.5.5.7.3.4', 'emailProtection'],
  ['1.3.6.1.5.5.7.3.8', 'timeStamping'],
  ['1.3.6.1.5.5.7.3.9', 'OCSPSigning'],
]);

/** The key identifier that the certificate has, or that its key makes. */
export const keyIdentifierOf = ({ extensions, spki }: Certificate): string => extensions.subjectKeyIdentifier || subjectKeyIdentifier(spki);

export function decodedCertificate(certificate: Certificate): DecodedCertificate {
  const { subject, issuer, extensions, publicKey } = certificate;
  return {
    dn: formatDn(subject),
    dnElements: subject.rdns.toReversed().flatMap((rdn) => rdn.map(({ type, value }) => ({ type, value }))),
    issuerDn: formatDn(issuer),
    serial: certificate.serial,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    keyType: publicKey.keyType ?? 'unknown',
    signingAlgorithm: algorithmName(certificate.algorithmDer),
    pem: encodePem('CERTIFICATE', certificate.der),
    subjectKeyIdentifier: keyIdentifierOf(certificate),
    certificateThumbprint: sha256Hex(certificate.der),
    certificateSHAOneThumbprint: sha1Hex(certificate.der),
    publicKeyThumbprint: sha256Hex(certificate.spki),
    keyUsages: [...(extensions.keyUsage ?? [])],
    isKeyUsagesCritical: isCritical(extensions, 'keyUsage'),
    extendedKeyUsages: (extensions.extendedKeyUsage ?? []).map((purpose) => purposeNames.get(purpose) ?? purpose),
    isExtendedKeyUsagesCritical: isCritical(extensions, 'extendedKeyUsage'),
    selfSigned: isSelfSigned(certificate),
    // Some clients cannot do without it.
    basicConstraints: extensions.basicConstraints ?? { isCa: false },
    ...optionalParts(certificate.extensions),
  };
}

/** What stands in few certificates is left out of the others. */
function optionalParts(extensions: Extensions): Partial<DecodedCertificate> {
  const { subjectAltName, crlDistributionPoints, authorityInfoAccess, certificatePolicies, authorityKeyIdentifier, unsupported } =
    extensions;
  const microsoft = microsoftKinds.flatMap((key) => (extensions[key] === undefined ? [] : [{ key, value: extensions[key] }]));
  return {
    ...(subjectAltName ? { sans: subjectAltName.names.map(({ type, value }) => ({ sanType: type, value })) } : {}),
    ...(microsoft.length > 0 ? { extensions: microsoft } : {}),
    ...(crlDistributionPoints ? { crldps: [...crlDistributionPoints] } : {}),
    ...(authorityInfoAccess ? { aias: { ocsp: [...authorityInfoAccess.ocsp], crt: [...authorityInfoAccess.crt] } } : {}),
    ...(certificatePolicies ? { policies: certificatePolicies.map(({ oid, urls }) => ({ oid, urls: [...urls] })) } : {}),
    ...(authorityKeyIdentifier ? { authorityKeyIdentifier } : {}),
    ...(unsupported.length > 0 ? { unsupportedExtensions: unsupported.map(({ oid, value }) => ({ oid, hex: toHex(value) })) } : {}),
  };
}
