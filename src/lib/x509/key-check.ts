/**
 * Finds public keys that must not be certified (CA/Browser Forum BR §6.1.6, CVE-2017-15361, RFC 5480). No list of leaked
 * keys: that is data, not arithmetic.
 */

import { createPublicKey } from 'node:crypto';
import { toNumber } from '../der/octets.ts';
import { childrenOf, DerError, readDer } from '../der/read.ts';
import { TAG } from '../der/tag.ts';
import { type PublicKey, readAlgorithm, readPublicKey } from './key-type.ts';

const RSA_BITS_MIN = 2048;
const RSA_BITS_MAX = 16_384;
const FERMAT_ROUNDS = 100;

/** Odd primes below 2000, in groups whose product a double holds exactly: one long division serves a whole group. */
const PRIME_GROUPS = groupsOf(oddPrimesBelow(2000));

/** For each prime that divides the ROCA primes' common factor: the residues that powers of 65537 reach. */
const ROCA_RESIDUES = oddPrimesBelow(168).map((prime) => ({ prime, residues: powersModulo(65537, prime) }));

interface Curve {
  readonly p: bigint;
  readonly b: bigint;
  readonly octetsEach: number;
}
/** SP 800-186 §3.2.1; a is −3 in each. */
const NIST_CURVES: ReadonlyMap<string, Curve> = new Map([
  [
    'ec-secp256r1',
    {
      p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
      octetsEach: 32,
    },
  ],
  [
    'ec-secp384r1',
    {
      p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
      octetsEach: 48,
    },
  ],
  [
    'ec-secp521r1',
    {
      p: 2n ** 521n - 1n,
      b: 0x0051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
      octetsEach: 66,
    },
  ],
]);

/** Why the key of a SubjectPublicKeyInfo is refused; undefined for a good one. Never throws. */
export function weakness(spki: Uint8Array): string | undefined {
  try {
    const element = readDer(spki);
    const key = readPublicKey(element);
    if (key.family === undefined) return 'unknown public key algorithm';
    const [, parameters] = readAlgorithm(childrenOf(element)[0]!);
    if (key.family === 'rsa') return parameters ? rsaWeakness(key.rsa!) : 'RSA key without its parameters, NULL (RFC 3279 §2.3.1)';
    if (key.family === 'ec') return parameters?.tag === TAG.oid ? ecWeakness(key, spki) : 'curve is not named';
    return key.keyType === undefined ? 'public key of a wrong length' : undefined;
  } catch (error) {
    if (error instanceof DerError) return `malformed public key: ${error.message}`;
    throw error;
  }
}

function ecWeakness({ keyType, octets }: PublicKey, spki: Uint8Array): string | undefined {
  if (octets[0] !== 0x04) return 'point is not in the uncompressed form';
  const curve = NIST_CURVES.get(keyType ?? '');
  const isOnCurve = curve ? isPointOf(curve, octets) : canBeImported(spki);
  return isOnCurve ? undefined : 'point is not on the curve, or the curve is unknown';
}

/** y² = x³ − 3x + b: some microseconds, where an import takes thirty. */
function isPointOf({ p, b, octetsEach }: Curve, octets: Uint8Array): boolean {
  if (octets.length !== 1 + 2 * octetsEach) return false;
  const [x, y] = [toNumber(octets.subarray(1, 1 + octetsEach)), toNumber(octets.subarray(1 + octetsEach))];
  return x < p && y < p && (y * y - ((x * x - 3n) * x + b)) % p === 0n;
}

function canBeImported(spki: Uint8Array): boolean {
  try {
    createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
    return true;
  } catch {
    return false;
  }
}

function rsaWeakness({ modulus, exponent }: NonNullable<PublicKey['rsa']>): string | undefined {
  const bits = modulus.length * 8 - Math.clz32(modulus[0]!) + 24;
  if (bits < RSA_BITS_MIN) return `RSA modulus of ${bits} bits, fewer than ${RSA_BITS_MIN}`;
  if (bits > RSA_BITS_MAX) return `RSA modulus of ${bits} bits, more than ${RSA_BITS_MAX}`;
  if (exponent.length > 32) return 'RSA exponent above 2^256';
  const e = toNumber(exponent);
  if (e < 65537n || e % 2n === 0n) return 'RSA exponent is even or below 65537';
  const n = toNumber(modulus);
  if (n % 2n === 0n) return 'RSA modulus is even';
  if (ROCA_RESIDUES.every(({ prime, residues }) => residues.has(Number(n % BigInt(prime))))) return 'RSA key of a weak generator (ROCA)';
  if (hasSmallFactor(n)) return 'RSA modulus has a small factor';
  return hasCloseFactors(n) ? 'RSA primes are too close to each other' : undefined;
}

function hasSmallFactor(n: bigint): boolean {
  return PRIME_GROUPS.some(({ product, primes }) => {
    const rest = Number(n % product);
    return primes.some((prime) => rest % prime === 0);
  });
}

/** Fermat: n = a² − b² for an `a` just above the square root. */
function hasCloseFactors(n: bigint): boolean {
  let a = squareRoot(n);
  if (a * a === n) return true;
  for (let round = 0; round < FERMAT_ROUNDS; round++) {
    a += 1n;
    if (isSquare(a * a - n)) return true;
  }
  return false;
}

function isSquare(value: bigint): boolean {
  // Squares leave 12 of the 64 residues; the product of small odd numbers sorts out nearly all of the rest.
  if (!SQUARES_64.has(Number(value & 63n))) return false;
  const rest = Number(value % 45045n);
  if (!SQUARES_BY.every(({ modulus, squares }) => squares.has(rest % modulus))) return false;
  return squareRoot(value) ** 2n === value;
}

const squaresModulo = (modulus: number): ReadonlySet<number> => new Set(Array.from({ length: modulus }, (_, i) => (i * i) % modulus));
const SQUARES_64 = squaresModulo(64);
const SQUARES_BY = [5, 7, 9, 11, 13].map((modulus) => ({ modulus, squares: squaresModulo(modulus) }));

/** Rounded down; Newton from above. */
function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(16).length * 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

function oddPrimesBelow(limit: number): readonly number[] {
  const primes: number[] = [];
  for (let candidate = 3; candidate < limit; candidate += 2) if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  return primes;
}

function groupsOf(primes: readonly number[]): readonly { readonly product: bigint; readonly primes: readonly number[] }[] {
  const groups: { product: number; primes: number[] }[] = [];
  for (const prime of primes) {
    const last = groups.at(-1);
    if (last !== undefined && Number.isSafeInteger(last.product * prime)) {
      last.product *= prime;
      last.primes.push(prime);
    } else groups.push({ product: prime, primes: [prime] });
  }
  return groups.map((group) => ({ product: BigInt(group.product), primes: group.primes }));
}

function powersModulo(base: number, modulus: number): ReadonlySet<number> {
  const powers = new Set<number>();
  for (let power = 1; !powers.has(power); power = (power * (base % modulus)) % modulus) powers.add(power);
  return powers;
}
