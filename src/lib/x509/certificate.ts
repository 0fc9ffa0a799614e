/**
 * X.509 certificates (RFC 5280 §4.1), read strictly and without copying. What a certificate says is not judged here:
 * lint.ts does that.
 */

import { createHash } from 'node:crypto';
import { sameOctets, toHex } from '../der/octets.ts';
import {
  type Der,
  DerError,
  integerBytesOf,
  itemAt,
  itemsOf,
  onlyItemOf,
  rawOf,
  readDer,
  requireEnd,
  smallIntegerOf,
  timeOf,
  wholeBitStringOf,
} from '../der/read.ts';
import { constructedTag, implicitTag } from '../der/tag.ts';
import { readSignatureAlgorithm, type SignatureAlgorithm } from './algorithm.ts';
import { type Extensions, noExtensions, readExtensions } from './extensions.ts';
import type { GeneralName } from './general-names.ts';
import { type PublicKey, readPublicKey } from './key-type.ts';
import { type Name, readName } from './name.ts';

const SERIAL_OCTETS_MAX = 64;

/** What an authority signs. Times are milliseconds since 1970; octets point into the bytes that were parsed. */
export interface TbsCertificate {
  readonly tbs: Uint8Array;
  readonly version: number;
  /** Lower-case hexadecimal of the unsigned number, an even number of digits, no leading `00` (zero is `00`). */
  readonly serial: string;
  readonly issuer: Name;
  readonly subject: Name;
  /** The DER of the Validity. */
  readonly validity: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
  /** The DER of the SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly publicKey: PublicKey;
  /** The DER of the AlgorithmIdentifier of the signature. */
  readonly algorithmDer: Uint8Array;
  /** undefined for one that is not in algorithm.ts. */
  readonly algorithm: SignatureAlgorithm | undefined;
  readonly extensions: Extensions;
  readonly sans: readonly GeneralName[];
}

export interface Certificate extends TbsCertificate {
  readonly der: Uint8Array;
  readonly signature: Uint8Array;
}

/** Throws `DerError`. */
export function parseCertificate(der: Uint8Array): Certificate {
  const element = readDer(der);
  const items = itemsOf(element);
  const algorithm = itemAt(element, items, 1);
  const signature = wholeBitStringOf(itemAt(element, items, 2));
  requireEnd(items, 3);
  const tbs = readTbs(items[0]!);
  if (!sameOctets(rawOf(algorithm), tbs.algorithmDer)) throw new DerError('the two algorithms of the certificate differ', algorithm.start);
  return { ...tbs, der, signature };
}

/** Throws `DerError`. */
export const parseTbs = (der: Uint8Array): TbsCertificate => readTbs(readDer(der));

function readTbs(element: Der): TbsCertificate {
  const items = itemsOf(element);
  const versioned = items[0]?.tag === constructedTag(0);
  const version = versioned ? readVersion(items[0]!) : 1;
  const first = versioned ? 1 : 0;
  const field = (index: number): Der => itemAt(element, items, first + index);
  const algorithm = field(1);
  const validity = field(3);
  const times = itemsOf(validity);
  const spki = field(5);
  const extensions = readRest(items, first + 6, version);
  const tbs: TbsCertificate = {
    tbs: rawOf(element),
    version,
    serial: readSerial(field(0)),
    algorithmDer: rawOf(algorithm),
    algorithm: readSignatureAlgorithm(algorithm),
    issuer: readName(field(2)),
    validity: rawOf(validity),
    notBefore: timeOf(itemAt(validity, times, 0)),
    notAfter: timeOf(itemAt(validity, times, 1)),
    subject: readName(field(4)),
    spki: rawOf(spki),
    publicKey: readPublicKey(spki),
    extensions,
    sans: extensions.subjectAltName?.names ?? [],
  };
  requireEnd(times, 2);
  return tbs;
}

/** The DEFAULT, version 1, is never written (X.690 §11.5). */
function readVersion(element: Der): number {
  const value = smallIntegerOf(onlyItemOf(element, constructedTag(0)));
  if (value !== 1 && value !== 2) throw new DerError('unknown version', element.content);
  return value + 1;
}

function readSerial(element: Der): string {
  const octets = integerBytesOf(element);
  if (octets[0]! >= 0x80) throw new DerError('negative serial number', element.content);
  if (octets.length > SERIAL_OCTETS_MAX) throw new DerError('serial number too long', element.content);
  return toHex(octets[0] === 0 && octets.length > 1 ? octets.subarray(1) : octets);
}

/** The unique identifiers of version 2, which nobody uses, and the extensions. */
function readRest(items: readonly Der[], start: number, version: number): Extensions {
  let index = start;
  for (const tag of [implicitTag(1), implicitTag(2)]) {
    if (items[index]?.tag !== tag) continue;
    if (version < 2) throw new DerError('unique identifier in version 1', items[index]!.start);
    wholeBitStringOf(items[index++]!, tag);
  }
  const last = items[index];
  if (last === undefined) return noExtensions;
  requireEnd(items, index + 1);
  if (version !== 3) throw new DerError('extensions before version 3', last.start);
  return readExtensions(onlyItemOf(last, constructedTag(3)));
}

/** Issuer and subject are the same Name: the certificate may be signed by its own key. */
export const isSelfIssued = (certificate: TbsCertificate): boolean => sameOctets(certificate.issuer.der, certificate.subject.der);

export const sha256Hex = (octets: Uint8Array): string => createHash('sha256').update(octets).digest('hex');

export const sha1Hex = (octets: Uint8Array): string => createHash('sha1').update(octets).digest('hex');
