/** PKCS #10 certification requests (RFC 2986): read, and their proof of possession checked. */

import { type Der, DerError, itemAt, itemsOf, oidOf, rawOf, readDer, requireEnd, smallIntegerOf, wholeBitStringOf } from '../der/read.ts';
import { constructedTag, TAG } from '../der/tag.ts';
import { readSignatureAlgorithm, type SignatureAlgorithm } from './algorithm.ts';
import { type Extensions, noExtensions, readExtensions } from './extensions.ts';
import type { GeneralName } from './general-names.ts';
import { type PublicKey, readPublicKey } from './key-type.ts';
import { type Name, readName } from './name.ts';
import { decodeBase64, parsePem } from './pem.ts';
import { isSignedBy } from './verify.ts';

/** PKCS #9, and the identifier that Microsoft's first enrollment clients used for the same. */
const EXTENSION_REQUESTS: readonly string[] = ['1.2.840.113549.1.9.14', '1.3.6.1.4.1.311.2.1.14'];
const LABELS: readonly string[] = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];
const RSA_OCTETS_MAX = 2048;

export interface CsrAttribute {
  readonly oid: string;
  /** The DER of each value. */
  readonly values: readonly Uint8Array[];
}

/** Octets point into the bytes that were parsed. */
export interface Csr {
  readonly der: Uint8Array;
  /** What is signed. */
  readonly info: Uint8Array;
  readonly subject: Name;
  /** The DER of the SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly publicKey: PublicKey;
  /** All of them, the extension request too: SCEP's challenge password stands here. */
  readonly attributes: readonly CsrAttribute[];
  /** Those asked for. */
  readonly extensions: Extensions;
  readonly sans: readonly GeneralName[];
  /** undefined for one that is not in algorithm.ts. */
  readonly algorithm: SignatureAlgorithm | undefined;
  readonly signature: Uint8Array;
}

/** Throws `DerError`. The signature is not checked: `verifyCsr`. */
export function parseCsr(der: Uint8Array): Csr {
  const element = readDer(der);
  const items = itemsOf(element);
  const info = itemAt(element, items, 0);
  const algorithm = itemAt(element, items, 1);
  const signature = wholeBitStringOf(itemAt(element, items, 2));
  requireEnd(items, 3);
  const fields = itemsOf(info);
  requireEnd(fields, 4);
  const version = itemAt(info, fields, 0);
  if (smallIntegerOf(version) !== 0) throw new DerError('unknown version', version.content);
  const subject = readName(itemAt(info, fields, 1));
  const spki = itemAt(info, fields, 2);
  // Some clients leave out the attributes altogether when there are none.
  const attributes = fields[3] === undefined ? [] : itemsOf(fields[3], constructedTag(0)).map(readAttribute);
  const extensions = readRequestedExtensions(attributes, info);
  return {
    der,
    info: rawOf(info),
    subject,
    spki: rawOf(spki),
    publicKey: readPublicKey(spki),
    attributes: attributes.map(({ oid, values }) => ({ oid, values: values.map(rawOf) })),
    extensions,
    sans: extensions.subjectAltName?.names ?? [],
    algorithm: readSignatureAlgorithm(algorithm),
    signature,
  };
}

/** One request in PEM with either label, or bare base64 of the DER. Throws `DerError`. */
export function parseCsrText(text: string): Csr {
  if (!text.includes('-----')) return parseCsr(decodeBase64(text));
  const requests = parsePem(text).filter(({ label }) => LABELS.includes(label));
  if (requests.length !== 1) throw new DerError(`PEM: one certificate request expected, ${requests.length} found`, 0);
  return parseCsr(requests[0]!.der);
}

/** Whether the request is signed by its own key. False too for keys and algorithms that are not known. */
export function verifyCsr(csr: Csr): Promise<boolean> {
  const { algorithm, publicKey } = csr;
  const oversized = publicKey.rsa !== undefined && publicKey.rsa.modulus.length > RSA_OCTETS_MAX;
  if (algorithm === undefined || algorithm.family !== publicKey.family || oversized) return Promise.resolve(false);
  return isSignedBy(csr.spki, publicKey.keyType, { data: csr.info, signature: csr.signature, algorithm });
}

interface ReadAttribute {
  readonly oid: string;
  readonly values: readonly Der[];
}

function readAttribute(element: Der): ReadAttribute {
  const items = itemsOf(element);
  requireEnd(items, 2);
  const oid = oidOf(itemAt(element, items, 0));
  const values = itemsOf(itemAt(element, items, 1), TAG.set);
  if (values.length === 0) throw new DerError('attribute without a value', element.start);
  return { oid, values };
}

function readRequestedExtensions(attributes: readonly ReadAttribute[], info: Der): Extensions {
  const requests = attributes.filter(({ oid }) => EXTENSION_REQUESTS.includes(oid)).flatMap(({ values }) => values);
  if (requests.length > 1) throw new DerError('extensions are requested twice', info.start);
  // An empty list of extensions is against RFC 5280, and yet what some clients send for "none".
  const [request] = requests;
  return request === undefined || itemsOf(request).length === 0 ? noExtensions : readExtensions(request);
}
