/**
 * Looks over what is about to be signed: RFC 5280, and what keeps a certificate from being misread. It reads the encoded
 * bytes, not the values that they were built from, so that a mistake of the encoder is found too.
 */

import { sameOctets } from '../der/octets.ts';
import { DerError } from '../der/read.ts';
import { sequence, time } from '../der/write.ts';
import { encodeTbs } from './build.ts';
import { isSelfIssued, parseTbs, type TbsCertificate } from './certificate.ts';
import { type Extension, type ExtensionKind, encodeExtension, findExtensionKind, isCritical } from './extensions.ts';
import { isAbsoluteUri, isValidGeneralName } from './general-names.ts';
import type { KeyFamily } from './key-type.ts';

/** The authority that is going to sign. */
export interface LintIssuer {
  /** The DER of its subject. */
  readonly name: Uint8Array;
  /** Its subject key identifier, lower-case hexadecimal. */
  readonly subjectKeyIdentifier?: string;
  /** Milliseconds since 1970. */
  readonly notBefore?: number;
  readonly notAfter?: number;
  readonly family?: KeyFamily;
}

/** A rule's finding for each thing that it minds. */
type Rule = (tbs: TbsCertificate, issuer: LintIssuer | undefined) => readonly (string | false)[];

const RULES: readonly Rule[] = [basics, validity, names, authority, keyPurposes, identifiers, addresses, encoding, issuedBy];

/** What is wrong with a TBSCertificate, and with it under `issuer`; empty for a clean one. Never throws. */
export function lint(tbs: Uint8Array, issuer?: LintIssuer): readonly string[] {
  try {
    const parsed = parseTbs(tbs);
    return RULES.flatMap((rule) => rule(parsed, issuer)).filter((finding) => finding !== false);
  } catch (error) {
    if (error instanceof DerError) return [`not a TBSCertificate: ${error.message}`];
    throw error;
  }
}

function basics({ version, serial, algorithm, publicKey, extensions }: TbsCertificate): ReturnType<Rule> {
  return [
    version !== 3 && 'version is not 3',
    (serial.length > 40 || (serial.length === 40 && serial >= '8')) && 'serial number has more than 20 octets',
    /^0+$/.test(serial) && 'serial number is zero',
    algorithm === undefined && 'signature algorithm is unknown',
    algorithm?.digest === 'sha1' && 'signature algorithm uses SHA-1',
    publicKey.keyType === undefined && 'public key is of no supported type',
    ...extensions.unsupported.map(({ oid, critical }) => critical && `extension ${oid} is critical and unknown`),
  ];
}

/** RFC 5280 §4.1.2.5: UTCTime until 2049, GeneralizedTime from then on. */
function validity(tbs: TbsCertificate): ReturnType<Rule> {
  const expected = sequence(time(tbs.notBefore), time(tbs.notAfter));
  return [
    tbs.notBefore >= tbs.notAfter && 'notAfter is not after notBefore',
    !sameOctets(tbs.validity, expected) && 'a time is in the wrong of the two forms',
  ];
}

function names({ subject, issuer, sans, extensions }: TbsCertificate): ReturnType<Rule> {
  const attributes = [...issuer.rdns, ...subject.rdns].flat();
  const isEmpty = subject.rdns.length === 0;
  return [
    issuer.rdns.length === 0 && 'issuer is empty',
    isEmpty && extensions.subjectAltName === undefined && 'neither a subject nor a subject alternative name',
    isEmpty &&
      extensions.subjectAltName !== undefined &&
      !isCritical(extensions, 'subjectAltName') &&
      'subject alternative name is not critical, and the subject is empty',
    ...attributes.flatMap(({ type, value, isText }) => [
      type === 'C' && !/^[A-Za-z]{2}$/.test(value) && 'C is not two letters',
      isText && value === '' && `${type} is empty`,
      isText && /\p{Cc}/u.test(value) && `${type} holds a control character`,
    ]),
    ...sans.map((name) => !isValidGeneralName(name) && `invalid ${name.type} ${JSON.stringify(name.value)}`),
    (extensions.subjectAltName?.unsupported ?? []).length > 0 && 'a subject alternative name of a kind that is not known',
  ];
}

function authority({ extensions }: TbsCertificate): ReturnType<Rule> {
  const { basicConstraints, keyUsage } = extensions;
  const isCa = basicConstraints?.isCa === true;
  const signsCertificates = keyUsage?.includes('keyCertSign') === true;
  return [
    isCa && !isCritical(extensions, 'basicConstraints') && 'basic constraints of an authority are not critical',
    isCa && !signsCertificates && 'an authority without keyCertSign',
    signsCertificates && !isCa && 'keyCertSign without an authority',
    !isCa && basicConstraints?.pathLen !== undefined && 'path length without an authority',
    isCa && extensions.subjectKeyIdentifier === undefined && 'an authority without a subject key identifier',
  ];
}

function keyPurposes({ extensions }: TbsCertificate): ReturnType<Rule> {
  return [extensions.keyUsage?.length === 0 && 'key usage is empty'];
}

function identifiers(tbs: TbsCertificate): ReturnType<Rule> {
  const { authorityKeyIdentifier, subjectKeyIdentifier, list } = tbs.extensions;
  const critical = list.filter((extension) => extension.critical).map(({ oid }) => findExtensionKind(oid));
  const never: readonly ExtensionKind[] = ['authorityKeyIdentifier', 'subjectKeyIdentifier', 'authorityInfoAccess'];
  return [
    !isSelfIssued(tbs) && !authorityKeyIdentifier && 'no authority key identifier',
    subjectKeyIdentifier === '' && 'subject key identifier is empty',
    ...never.map((kind) => critical.includes(kind) && `${kind} is critical`),
  ];
}

function addresses({ extensions }: TbsCertificate): ReturnType<Rule> {
  const { crlDistributionPoints = [], authorityInfoAccess, certificatePolicies = [] } = extensions;
  const urls = [
    ...crlDistributionPoints,
    ...(authorityInfoAccess?.ocsp ?? []),
    ...(authorityInfoAccess?.crt ?? []),
    ...certificatePolicies.flatMap((policy) => policy.urls),
  ];
  const policies = certificatePolicies.map(({ oid }) => oid);
  return [
    ...urls.map((url) => !isAbsoluteUri(url) && `not an absolute URI: ${JSON.stringify(url)}`),
    new Set(policies).size !== policies.length && 'a certificate policy occurs twice',
  ];
}

/** Forms that the reader tolerates: written anew, the same values must give the same octets. */
function encoding(tbs: TbsCertificate): ReturnType<Rule> {
  const { version, serial, algorithm, issuer, subject, notBefore, notAfter, spki, extensions } = tbs;
  const { basicConstraints: constraints, keyUsage, list } = extensions;
  const hasRange = constraints !== undefined && (constraints.isCa || constraints.pathLen === undefined);
  const names = { issuerName: issuer.der, subjectName: subject.der };
  const rebuilt =
    version === 3 && algorithm !== undefined
      ? encodeTbs({ serial: Buffer.from(serial, 'hex'), algorithm, ...names, notBefore, notAfter, spki, extensions: list })
      : tbs.tbs;
  return [
    hasRange && !list.some(isSame(encodeExtension('basicConstraints', constraints, false))) && 'basic constraints are not in DER',
    keyUsage?.length && !list.some(isSame(encodeExtension('keyUsage', keyUsage, false))) && 'key usage is not in DER',
    !sameOctets(tbs.tbs, rebuilt) && 'an unusual element, or a default value written out',
  ].filter((finding) => typeof finding === 'string');
}

const isSame = (expected: Extension) => (extension: Extension) =>
  extension.oid === expected.oid && sameOctets(extension.value, expected.value);

function issuedBy(tbs: TbsCertificate, issuer: LintIssuer | undefined): ReturnType<Rule> {
  if (issuer === undefined) return [];
  const { authorityKeyIdentifier: identifier } = tbs.extensions;
  return [
    !sameOctets(tbs.issuer.der, issuer.name) && 'issuer is not the name of the authority',
    identifier !== undefined &&
      issuer.subjectKeyIdentifier !== undefined &&
      identifier !== issuer.subjectKeyIdentifier &&
      'authority key identifier is not that of the authority',
    issuer.notBefore !== undefined && tbs.notBefore < issuer.notBefore && 'begins before the authority',
    issuer.notAfter !== undefined && tbs.notAfter > issuer.notAfter && 'outlives the authority',
    issuer.family !== undefined &&
      tbs.algorithm !== undefined &&
      tbs.algorithm.family !== issuer.family &&
      "signature algorithm does not fit the authority's key",
  ];
}
