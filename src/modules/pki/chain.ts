/** Who issued a certificate, as far as the authorities say that are known. Says nothing of whether it is trusted or still valid. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { toHex } from '../../lib/der/octets.ts';
import { type Certificate, isSelfIssued } from '../../lib/x509/certificate.ts';

const lengthMax = 10;
/** Bounds what one verification can cost. */
const rsaOctetsMax = 2048;

/** The key to verify with; undefined for one that is not known here, or too large. */
function verificationKey({ spki, publicKey }: Certificate): KeyObject | undefined {
  if (publicKey.rsa && (publicKey.rsa.modulus.length > rsaOctetsMax || publicKey.rsa.exponent.length > 32)) return undefined;
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** Whether this key made the signature. False for algorithms that are not known here. */
export function isSignedBy({ algorithm, tbs, signature }: Certificate, issuer: Certificate, key: KeyObject | undefined): boolean {
  if (!key || !algorithm || algorithm.family !== issuer.publicKey.family) return false;
  try {
    return verify(algorithm.digest, tbs, key, signature);
  } catch {
    return false;
  }
}

/** Issued by the key that it is for: the names say so and the signature is good. */
export const isSelfSigned = (certificate: Certificate): boolean =>
  isSelfIssued(certificate) && isSignedBy(certificate, certificate, verificationKey(certificate));

export interface Chains {
  /** What is above the certificate, its issuer first, up to a self-signed one or the last that is known. Empty for a self-signed one. */
  above(certificate: Certificate): readonly Certificate[];
}

/** Each authority's key is read, and its own issuer looked for, once. */
export function createChains(authorities: readonly Certificate[]): Chains {
  const bySubject = Map.groupBy(authorities, ({ subject }) => toHex(subject.der));
  const keyOf = once(verificationKey);

  /** Of several with one key, the one that lasts longest. */
  const findIssuer = (certificate: Certificate): Certificate | undefined =>
    (bySubject.get(toHex(certificate.issuer.der)) ?? [])
      .filter((authority) => mayBeIssuer(certificate, authority) && isSignedBy(certificate, authority, keyOf(authority)))
      .toSorted((one, other) => other.notAfter - one.notAfter)[0];
  const issuerOf = (certificate: Certificate) => (isSelfSigned(certificate) ? undefined : findIssuer(certificate));
  const issuerOfAuthority = once(issuerOf);

  return {
    above(certificate) {
      const chain: Certificate[] = [];
      let issuer = issuerOf(certificate);
      while (issuer && chain.length < lengthMax && !chain.includes(issuer)) {
        chain.push(issuer);
        issuer = issuerOfAuthority(issuer);
      }
      return chain;
    },
  };
}

/** Key identifiers, where both certificates have one, tell keys of one name apart. */
function mayBeIssuer(
  { extensions: { authorityKeyIdentifier: named } }: Certificate,
  { extensions: { subjectKeyIdentifier } }: Certificate,
): boolean {
  return !named || subjectKeyIdentifier === undefined || named === subjectKeyIdentifier;
}

function once<T>(work: (authority: Certificate) => T): (authority: Certificate) => T {
  const results = new Map<Certificate, T>();
  return (authority) => {
    if (!results.has(authority)) results.set(authority, work(authority));
    return results.get(authority)!;
  };
}
