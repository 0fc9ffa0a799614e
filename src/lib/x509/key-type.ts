/**
 * Public keys (SubjectPublicKeyInfo) and the names that the service's interface has for their types.
 * Whether a key is a good one is asked of key-check.ts.
 */

import {
  type Der,
  DerError,
  integerBytesOf,
  itemAt,
  itemsOf,
  oidOf,
  readDer,
  readInside,
  requireEnd,
  requireNull,
  wholeBitStringOf,
} from '../der/read.ts';
import { TAG } from '../der/tag.ts';
import { requireWellFormed } from '../der/well-formed.ts';

const RSA = '1.2.840.113549.1.1.1';
const EC = '1.2.840.10045.2.1';
const RSA_BITS = [2048, 3072, 4096, 8192] as const;

const CURVES = {
  '1.2.840.10045.3.1.7': 'ec-secp256r1',
  '1.3.132.0.34': 'ec-secp384r1',
  '1.3.132.0.35': 'ec-secp521r1',
  '1.3.36.3.3.2.8.1.1.7': 'ec-brainpoolp256r1',
  '1.3.36.3.3.2.8.1.1.11': 'ec-brainpoolp384r1',
  '1.3.36.3.3.2.8.1.1.13': 'ec-brainpoolp512r1',
} as const;

/** Algorithms without parameters (RFC 8410, RFC 9881, RFC 9909): name and octets of a public key. */
const FIXED = {
  '1.3.101.112': ['ed-25519', 32],
  '1.3.101.113': ['ed-448', 57],
  '2.16.840.1.101.3.4.3.17': ['mldsa-44', 1312],
  '2.16.840.1.101.3.4.3.18': ['mldsa-65', 1952],
  '2.16.840.1.101.3.4.3.19': ['mldsa-87', 2592],
  '2.16.840.1.101.3.4.3.20': ['slhdsa-sha2-128s', 32],
  '2.16.840.1.101.3.4.3.21': ['slhdsa-sha2-128f', 32],
  '2.16.840.1.101.3.4.3.22': ['slhdsa-sha2-192s', 48],
  '2.16.840.1.101.3.4.3.23': ['slhdsa-sha2-192f', 48],
  '2.16.840.1.101.3.4.3.24': ['slhdsa-sha2-256s', 64],
  '2.16.840.1.101.3.4.3.25': ['slhdsa-sha2-256f', 64],
  '2.16.840.1.101.3.4.3.35': ['slhdsa-sha2-128ssha256', 32],
  '2.16.840.1.101.3.4.3.36': ['slhdsa-sha2-128fsha256', 32],
  '2.16.840.1.101.3.4.3.37': ['slhdsa-sha2-192ssha512', 48],
  '2.16.840.1.101.3.4.3.38': ['slhdsa-sha2-192fsha512', 48],
  '2.16.840.1.101.3.4.3.39': ['slhdsa-sha2-256ssha512', 64],
  '2.16.840.1.101.3.4.3.40': ['slhdsa-sha2-256fsha512', 64],
} as const;

type FixedType = (typeof FIXED)[keyof typeof FIXED][0];
export type KeyType = `rsa-${(typeof RSA_BITS)[number]}` | (typeof CURVES)[keyof typeof CURVES] | FixedType;

/** What a signature algorithm must match: all RSA keys are of one family, all keys on curves of another. */
export type KeyFamily = 'rsa' | 'ec' | FixedType;

export interface PublicKey {
  /** undefined for an algorithm that is not known here. */
  readonly family: KeyFamily | undefined;
  /** undefined where the interface has no name for the key: rsa-2560, secp256k1. */
  readonly keyType: KeyType | undefined;
  /** The contents of the BIT STRING. */
  readonly octets: Uint8Array;
  /** Unsigned, big-endian, without leading zeros. */
  readonly rsa: { readonly modulus: Uint8Array; readonly exponent: Uint8Array } | undefined;
}

export const keyTypes: readonly KeyType[] = [
  ...RSA_BITS.map((bits) => `rsa-${bits}` as const),
  ...Object.values(CURVES),
  ...Object.values(FIXED).map(([name]) => name),
];

const curves: ReadonlyMap<string, KeyType> = new Map(Object.entries(CURVES));
const fixed: ReadonlyMap<string, readonly [FixedType, number]> = new Map(Object.entries(FIXED));

/** The interface's name for the type of a SubjectPublicKeyInfo; undefined when there is none. Throws `DerError`. */
export const keyTypeOf = (spki: Uint8Array): KeyType | undefined => readPublicKey(readDer(spki)).keyType;

export function readPublicKey(spki: Der): PublicKey {
  const items = itemsOf(spki);
  const algorithm = itemAt(spki, items, 0);
  const bits = itemAt(spki, items, 1);
  requireEnd(items, 2);
  const [identifier, parameters] = readAlgorithm(algorithm);
  const octets = wholeBitStringOf(bits);
  if (identifier === RSA) return readRsaKey(bits, octets, parameters);
  if (identifier === EC) {
    const curve = parameters?.tag === TAG.oid ? curves.get(oidOf(parameters)) : undefined;
    return { family: 'ec', keyType: curve, octets, rsa: undefined };
  }
  const [family, length] = (parameters === undefined ? fixed.get(identifier) : undefined) ?? [undefined, 0];
  return { family, keyType: octets.length === length ? family : undefined, octets, rsa: undefined };
}

/** AlgorithmIdentifier: dotted text and, where there are any, the parameters. */
export function readAlgorithm(algorithm: Der): readonly [identifier: string, parameters: Der | undefined] {
  const items = itemsOf(algorithm);
  requireEnd(items, 2);
  const [, parameters] = items;
  if (parameters !== undefined) requireWellFormed(parameters);
  return [oidOf(itemAt(algorithm, items, 0)), parameters];
}

function readRsaKey(bits: Der, octets: Uint8Array, parameters: Der | undefined): PublicKey {
  if (parameters !== undefined) requireNull(parameters);
  const key = readInside(bits, bits.content + 1);
  const numbers = itemsOf(key);
  requireEnd(numbers, 2);
  const modulus = positiveOctets(itemAt(key, numbers, 0));
  const exponent = positiveOctets(itemAt(key, numbers, 1));
  const bitLength = modulus.length * 8 - Math.clz32(modulus[0]!) + 24;
  const size = RSA_BITS.find((candidate) => candidate === bitLength);
  return { family: 'rsa', keyType: size && `rsa-${size}`, octets, rsa: { modulus, exponent } };
}

function positiveOctets(element: Der): Uint8Array {
  const octets = integerBytesOf(element);
  if (octets[0]! >= 0x80 || (octets.length === 1 && octets[0] === 0)) throw new DerError('positive INTEGER expected', element.content);
  return octets[0] === 0 ? octets.subarray(1) : octets;
}
