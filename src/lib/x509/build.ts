/** Writes certificates: what is signed, and the signature beside it. Signing is the vault's part, judging lint.ts's. */

import { createHash } from 'node:crypto';
import { toHex } from '../der/octets.ts';
import { itemAt, itemsOf, readDer, wholeBitStringOf } from '../der/read.ts';
import { bitString, bool, contextExplicit, integer, octetString, oid, sequence, sequenceOf, time } from '../der/write.ts';
import type { SignatureAlgorithm } from './algorithm.ts';
import type { Extension } from './extensions.ts';

/** Names and key as DER, times in milliseconds since 1970 (whole seconds count). */
export interface TbsInput {
  /** Unsigned, big-endian. */
  readonly serial: Uint8Array;
  readonly algorithm: SignatureAlgorithm;
  readonly issuerName: Uint8Array;
  readonly subjectName: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
  readonly spki: Uint8Array;
  readonly extensions: readonly Extension[];
}

const VERSION_3 = contextExplicit(0, integer(2n));

/** TBSCertificate, version 3. Throws `RangeError` for times outside the years 0 to 9999. */
export function encodeTbs(input: TbsInput): Uint8Array {
  return sequence(
    VERSION_3,
    integer(input.serial),
    input.algorithm.der,
    input.issuerName,
    sequence(time(input.notBefore), time(input.notAfter)),
    input.subjectName,
    input.spki,
    ...(input.extensions.length === 0 ? [] : [contextExplicit(3, encodeExtensions(input.extensions))]),
  );
}

/** `Extensions`: for a certificate, a request, or a CRL. */
export const encodeExtensions = (extensions: readonly Extension[]): Uint8Array =>
  sequenceOf(
    extensions.map(({ oid: identifier, critical, value }) =>
      critical ? sequence(oid(identifier), bool(true), octetString(value)) : sequence(oid(identifier), octetString(value)),
    ),
  );

/** The certificate. */
export const assemble = (tbs: Uint8Array, algorithm: SignatureAlgorithm, signature: Uint8Array): Uint8Array =>
  sequence(tbs, algorithm.der, bitString(signature));

/** RFC 7093 §2 method 1, in lower-case hexadecimal: the leftmost 160 bits of SHA-256 over the key's octets. Throws `DerError`. */
export function subjectKeyIdentifier(spki: Uint8Array): string {
  const element = readDer(spki);
  const key = wholeBitStringOf(itemAt(element, itemsOf(element), 1));
  return toHex(createHash('sha256').update(key).digest().subarray(0, 20));
}

/**
 * A serial number with 128 random bits: an octet 01 before 16 random ones. So it is always 17 octets long, positive, below 2^129 and
 * minimal in DER as it stands; its hexadecimal text is always 34 digits, and no two texts mean one number.
 */
export function newSerial(random: Uint8Array): Uint8Array {
  if (random.length !== 16) throw new RangeError('a serial number takes 16 random octets');
  const serial = new Uint8Array(17);
  serial[0] = 1;
  serial.set(random, 1);
  return serial;
}
