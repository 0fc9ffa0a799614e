/** The authority behind the integrated connector: its certificate, checked and read once, and a root of its own where none is given. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { InvalidField } from '../../kernel/connector.ts';
import type { Signer, Sources } from '../../kernel/context.ts';
import { DerError } from '../../lib/der/read.ts';
import { findAlgorithmByName, type SignatureAlgorithm, signatureAlgorithmFor } from '../../lib/x509/algorithm.ts';
import { assemble, encodeTbs, newSerial, subjectKeyIdentifier } from '../../lib/x509/build.ts';
import { type Certificate, parseCertificate, sha256Hex } from '../../lib/x509/certificate.ts';
import { encodeExtension } from '../../lib/x509/extensions.ts';
import { InvalidValue } from '../../lib/x509/invalid-value.ts';
import { weakness } from '../../lib/x509/key-check.ts';
import { keyTypeOf } from '../../lib/x509/key-type.ts';
import { lint } from '../../lib/x509/lint.ts';
import { encodeName } from '../../lib/x509/name.ts';
import { encodePem, parsePem } from '../../lib/x509/pem.ts';
import { isSignedBy } from '../../lib/x509/verify.ts';

export interface Authority {
  readonly certificate: Certificate;
  /** Of its own certificate; computed from the key where that has none. */
  readonly keyIdentifier: string;
  /** SHA-256 over its SubjectPublicKeyInfo, lower-case hexadecimal. */
  readonly keyHash: string;
  readonly publicKey: KeyObject;
  readonly algorithm: SignatureAlgorithm;
}

/** Name constraints, policy constraints and inhibit anyPolicy (RFC 5280 §4.2.1.10, 11, 14): nothing is issued that they might forbid. */
const limits: ReadonlySet<string> = new Set(['2.5.29.30', '2.5.29.36', '2.5.29.54']);

const rootLifetimeMs = 3650 * 86_400_000;

/** Throws `InvalidField` for a certificate that no certificates can be signed under. */
export function readAuthority(caCert: string, signAlg?: string): Authority {
  const certificate = readCertificate(caCert);
  const { basicConstraints, keyUsage, subjectKeyIdentifier: named, unsupported } = certificate.extensions;
  if (certificate.subject.rdns.length === 0) throw new InvalidField('caCert', 'has no subject');
  if (!basicConstraints?.isCa) throw new InvalidField('caCert', 'is not the certificate of an authority');
  if (keyUsage && !keyUsage.includes('keyCertSign')) throw new InvalidField('caCert', 'its key usage does not allow signing certificates');
  const limit = unsupported.find(({ oid, critical }) => critical || limits.has(oid));
  if (limit) throw new InvalidField('caCert', `limits what may be issued by the extension ${limit.oid}, which is not known here`);
  const reason = weakness(certificate.spki);
  if (reason !== undefined) throw new InvalidField('caCert', reason);
  return {
    certificate,
    keyIdentifier: named || subjectKeyIdentifier(certificate.spki),
    keyHash: sha256Hex(certificate.spki),
    publicKey: publicKeyOf(certificate.spki),
    algorithm: chooseAlgorithm(certificate.spki, signAlg),
  };
}

function readCertificate(pem: string): Certificate {
  try {
    const [block, ...others] = parsePem(pem);
    if (block?.label !== 'CERTIFICATE' || others.length > 0) throw new InvalidField('caCert', 'one certificate is expected as PEM');
    return parseCertificate(block.der);
  } catch (error) {
    throw error instanceof DerError ? new InvalidField('caCert', error.message, { cause: error }) : error;
  }
}

/** The algorithm that a key signs with; `signAlg` chooses among those that fit it. Throws `InvalidField`. */
function chooseAlgorithm(spki: Uint8Array, signAlg?: string): SignatureAlgorithm {
  const keyType = keyTypeOf(spki);
  const usual = keyType && signatureAlgorithmFor(keyType);
  if (!usual) throw new InvalidField('caKey', 'no certificates are signed with a key of this type');
  if (signAlg === undefined) return usual;
  const wanted = findAlgorithmByName(signAlg);
  if (wanted?.family !== usual.family || wanted.digest === 'sha1')
    throw new InvalidField('signAlg', `a key of type ${keyType} does not sign with that algorithm`);
  return wanted;
}

const publicKeyOf = (spki: Uint8Array): KeyObject => createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });

export const isSameKey = (one: KeyObject, spki: Uint8Array): boolean => one.equals(publicKeyOf(spki));

/** Throws what `refusal` makes of the reason unless the authority's certificate is valid at `now`. */
export function requireCurrent({ certificate: { notBefore, notAfter } }: Authority, now: number, refusal: (reason: string) => Error): void {
  if (now < notBefore) throw refusal(`the authority's certificate is not valid before ${new Date(notBefore).toISOString()}`);
  if (now > notAfter) throw refusal(`the authority's certificate expired on ${new Date(notAfter).toISOString()}`);
}

/** PEM of a new self-signed root, `CN=<name>`, valid for ten years. */
export async function makeRoot(name: string, signer: Signer, signAlg: string | undefined, { now, random }: Sources): Promise<string> {
  const spki = signer.publicKey;
  const algorithm = chooseAlgorithm(spki, signAlg);
  const subject = rootName(name);
  const notBefore = now();
  const tbs = encodeTbs({
    serial: newSerial(random(16)),
    algorithm,
    issuerName: subject,
    subjectName: subject,
    notBefore,
    notAfter: notBefore + rootLifetimeMs,
    spki,
    extensions: [
      encodeExtension('basicConstraints', { isCa: true }, true),
      encodeExtension('keyUsage', ['keyCertSign', 'cRLSign'], true),
      encodeExtension('subjectKeyIdentifier', subjectKeyIdentifier(spki), false),
    ],
  });
  const findings = lint(tbs);
  if (findings.length > 0) throw new InvalidField('caCert', `no root can be made: ${findings.join('; ')}`);
  return encodePem('CERTIFICATE', await sign(tbs, algorithm, signer, publicKeyOf(spki)));
}

function rootName(name: string): Uint8Array {
  try {
    return encodeName([{ type: 'cn', value: name }]);
  } catch (error) {
    throw error instanceof InvalidValue ? new InvalidField('name', `cannot name a root: ${error.message}`, { cause: error }) : error;
  }
}

/**
 * The certificate of `tbs`. A signature is checked before it is handed out, since one that a fault spoilt can give the key away: by RSA it takes one,
 * by the algorithms that sign the same bytes alike a second one of them. ECDSA draws a number anew each time and costs several times as much to
 * check as to make: it is handed out as it is.
 */
export async function sign(tbs: Uint8Array, algorithm: SignatureAlgorithm, signer: Signer, publicKey: KeyObject): Promise<Uint8Array> {
  const signature = await signer.sign(tbs, algorithm.digest);
  const isChecked = algorithm.family !== 'ec';
  if (isChecked && !(await isSignedBy(publicKey, keyTypeOf(signer.publicKey), { data: tbs, signature, algorithm })))
    throw new Error('the signer returned no signature of what it was given');
  return assemble(tbs, algorithm, signature);
}
