/** Signature algorithms: names, AlgorithmIdentifiers, digests. RSASSA-PSS has parameters of its own and is not among them. */

import { sameOctets } from '../der/octets.ts';
import type { Der } from '../der/read.ts';
import { rawOf, readDer } from '../der/read.ts';
import { nullValue, oid, sequence } from '../der/write.ts';
import { type KeyFamily, type KeyType, readAlgorithm } from './key-type.ts';

export interface SignatureAlgorithm {
  readonly name: string;
  readonly oid: string;
  /** For `sign` and `verify` of node:crypto; null where the algorithm has its digest within. */
  readonly digest: 'sha1' | 'sha256' | 'sha384' | 'sha512' | null;
  readonly family: KeyFamily;
  /** The whole AlgorithmIdentifier. Not to be written to. */
  readonly der: Uint8Array;
}

type Row = readonly [name: string, oid: string, digest: SignatureAlgorithm['digest'], family: KeyFamily];

const ROWS: readonly Row[] = [
  ['SHA1WITHRSA', '1.2.840.113549.1.1.5', 'sha1', 'rsa'],
  ['SHA256WITHRSA', '1.2.840.113549.1.1.11', 'sha256', 'rsa'],
  ['SHA384WITHRSA', '1.2.840.113549.1.1.12', 'sha384', 'rsa'],
  ['SHA512WITHRSA', '1.2.840.113549.1.1.13', 'sha512', 'rsa'],
  ['SHA1WITHECDSA', '1.2.840.10045.4.1', 'sha1', 'ec'],
  ['SHA256WITHECDSA', '1.2.840.10045.4.3.2', 'sha256', 'ec'],
  ['SHA384WITHECDSA', '1.2.840.10045.4.3.3', 'sha384', 'ec'],
  ['SHA512WITHECDSA', '1.2.840.10045.4.3.4', 'sha512', 'ec'],
  ['ED25519', '1.3.101.112', null, 'ed-25519'],
  ['ED448', '1.3.101.113', null, 'ed-448'],
  ['MLDSA44', '2.16.840.1.101.3.4.3.17', null, 'mldsa-44'],
  ['MLDSA65', '2.16.840.1.101.3.4.3.18', null, 'mldsa-65'],
  ['MLDSA87', '2.16.840.1.101.3.4.3.19', null, 'mldsa-87'],
  ['SLHDSA-SHA2-128S', '2.16.840.1.101.3.4.3.20', null, 'slhdsa-sha2-128s'],
  ['SLHDSA-SHA2-128F', '2.16.840.1.101.3.4.3.21', null, 'slhdsa-sha2-128f'],
  ['SLHDSA-SHA2-192S', '2.16.840.1.101.3.4.3.22', null, 'slhdsa-sha2-192s'],
  ['SLHDSA-SHA2-192F', '2.16.840.1.101.3.4.3.23', null, 'slhdsa-sha2-192f'],
  ['SLHDSA-SHA2-256S', '2.16.840.1.101.3.4.3.24', null, 'slhdsa-sha2-256s'],
  ['SLHDSA-SHA2-256F', '2.16.840.1.101.3.4.3.25', null, 'slhdsa-sha2-256f'],
];

/** Parameters: NULL for RSA (RFC 4055 §5), absent for all others (RFC 5758, 8410, 9881, 9909). */
export const signatureAlgorithms: readonly SignatureAlgorithm[] = ROWS.map(([name, identifier, digest, family]) => ({
  name,
  oid: identifier,
  digest,
  family,
  der: family === 'rsa' ? sequence(oid(identifier), nullValue()) : sequence(oid(identifier)),
}));

const byName = new Map(signatureAlgorithms.map((algorithm) => [algorithm.name, algorithm]));

/** The digest whose strength is that of the curve; RSA takes SHA-256. */
const DIGEST_OF_CURVE: Partial<Record<KeyType, SignatureAlgorithm['digest']>> = {
  'ec-secp384r1': 'sha384',
  'ec-brainpoolp384r1': 'sha384',
  'ec-secp521r1': 'sha512',
  'ec-brainpoolp512r1': 'sha512',
};

/**
 * What a key of this type signs with, with `digest` where the algorithm leaves a choice (never SHA-1). undefined when there is none:
 * the prehash variants of SLH-DSA, or a digest for an algorithm that has its own.
 */
export function signatureAlgorithmFor(keyType: KeyType, digest?: 'sha256' | 'sha384' | 'sha512'): SignatureAlgorithm | undefined {
  const family = keyType.startsWith('rsa-') ? 'rsa' : keyType.startsWith('ec-') ? 'ec' : keyType;
  const wanted = family === 'rsa' || family === 'ec' ? (digest ?? DIGEST_OF_CURVE[keyType] ?? 'sha256') : (digest ?? null);
  return signatureAlgorithms.find((algorithm) => algorithm.family === family && algorithm.digest === wanted);
}

export const findAlgorithmByName = (name: string): SignatureAlgorithm | undefined => byName.get(name.toUpperCase());

/** By the exact octets of an AlgorithmIdentifier: other parameters make another algorithm. */
export const findAlgorithm = (der: Uint8Array): SignatureAlgorithm | undefined =>
  signatureAlgorithms.find((algorithm) => sameOctets(algorithm.der, der));

/** The name of an AlgorithmIdentifier, or the dotted text of one that has none here. Throws `DerError`. */
export const algorithmName = (der: Uint8Array): string => findAlgorithm(der)?.name ?? readAlgorithm(readDer(der))[0];

export const readSignatureAlgorithm = (element: Der): SignatureAlgorithm | undefined => {
  readAlgorithm(element);
  return findAlgorithm(rawOf(element));
};
