/** Certificate extensions (RFC 5280 §4.2 and three of Microsoft's): read into values, written from values, by one table. */

import { fromHex, toHex } from '../der/octets.ts';
import {
  bitStringOf,
  booleanOf,
  type Der,
  DerError,
  itemAt,
  itemsOf,
  octetStringOf,
  oidOf,
  onlyItemOf,
  readInside,
  requireEnd,
  smallIntegerOf,
} from '../der/read.ts';
import { constructedTag, implicitTag, TAG } from '../der/tag.ts';
import * as write from '../der/write.ts';
import { decodeString } from './directory-string.ts';
import { encodeGeneralNames, type GeneralNames, isAbsoluteUri, readGeneralNames, URI_TAG } from './general-names.ts';
import { InvalidValue, oidFor, quoted } from './invalid-value.ts';
import { decodeSid, decodeTemplate, encodeSid, encodeTemplate, encodeTemplateName } from './microsoft-extensions.ts';

/** One extension as it stands; `value` is what its OCTET STRING holds. */
export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}

export const keyUsages = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;

export type KeyUsage = (typeof keyUsages)[number];

export interface BasicConstraints {
  readonly isCa: boolean;
  readonly pathLen?: number;
}

/** Addresses of responders and of the issuer's certificate. */
export interface AuthorityInfoAccess {
  readonly ocsp: readonly string[];
  readonly crt: readonly string[];
}

/** `urls`: where the practice statements are. */
export interface CertificatePolicy {
  readonly oid: string;
  readonly urls: readonly string[];
}

/** The value of each kind of extension. Key identifiers are lower-case hexadecimal, purposes dotted identifiers. */
export interface ExtensionValues {
  readonly basicConstraints: BasicConstraints;
  readonly keyUsage: readonly KeyUsage[];
  readonly extendedKeyUsage: readonly string[];
  readonly subjectKeyIdentifier: string;
  /** The empty text when the extension names the issuer's certificate in another way. */
  readonly authorityKeyIdentifier: string;
  readonly subjectAltName: GeneralNames;
  readonly crlDistributionPoints: readonly string[];
  readonly authorityInfoAccess: AuthorityInfoAccess;
  readonly certificatePolicies: readonly CertificatePolicy[];
  /** A security identifier: `S-1-5-21-…`. */
  readonly ms_sid: string;
  /** The name of a version 1 template. */
  readonly ms_template: string;
  /** `oid`, `oid:major` or `oid:major:minor`. */
  readonly ms_template_v2: string;
}

export type ExtensionKind = keyof ExtensionValues;

export interface Extensions extends Partial<ExtensionValues> {
  /** All of them in their order, those above too. */
  readonly list: readonly Extension[];
  /** Those of no kind above. */
  readonly unsupported: readonly Extension[];
}

interface Codec<T> {
  readonly oid: string;
  readonly decode: (element: Der) => T;
  readonly encode: (value: T) => Uint8Array;
}

const OCSP = '1.3.6.1.5.5.7.48.1';
const CA_ISSUERS = '1.3.6.1.5.5.7.48.2';
const CPS = '1.3.6.1.5.5.7.2.1';

const CODECS: { readonly [K in ExtensionKind]: Codec<ExtensionValues[K]> } = {
  basicConstraints: { oid: '2.5.29.19', decode: decodeBasicConstraints, encode: encodeBasicConstraints },
  keyUsage: { oid: '2.5.29.15', decode: decodeKeyUsage, encode: encodeKeyUsage },
  extendedKeyUsage: {
    oid: '2.5.29.37',
    decode: (element) => someItemsOf(element).map((purpose) => oidOf(purpose)),
    encode: (purposes) => write.sequenceOf(some(purposes, 'extended key usage').map(oidFor)),
  },
  subjectKeyIdentifier: {
    oid: '2.5.29.14',
    decode: (element) => toHex(octetStringOf(element)),
    encode: (identifier) => write.octetString(octetsFor(identifier)),
  },
  authorityKeyIdentifier: {
    oid: '2.5.29.35',
    decode: decodeAuthorityKeyIdentifier,
    encode: (identifier) => write.sequence(write.contextImplicit(0, octetsFor(identifier))),
  },
  subjectAltName: { oid: '2.5.29.17', decode: readGeneralNames, encode: ({ names }) => encodeGeneralNames(names) },
  crlDistributionPoints: {
    oid: '2.5.29.31',
    decode: (element) => someItemsOf(element).flatMap(urlsOfDistributionPoint),
    encode: (urls) =>
      write.sequenceOf(
        some(urls, 'CRL distribution points').map((url) =>
          write.sequence(write.contextExplicit(0, write.contextExplicit(0, encodeUrl(url)))),
        ),
      ),
  },
  authorityInfoAccess: { oid: '1.3.6.1.5.5.7.1.1', decode: decodeInfoAccess, encode: encodeInfoAccess },
  certificatePolicies: {
    oid: '2.5.29.32',
    decode: (element) => someItemsOf(element).map(decodePolicy),
    encode: (policies) => write.sequenceOf(some(policies, 'certificate policies').map(encodePolicy)),
  },
  ms_sid: { oid: '1.3.6.1.4.1.311.25.2', decode: decodeSid, encode: encodeSid },
  ms_template: { oid: '1.3.6.1.4.1.311.20.2', decode: (element) => decodeString(element), encode: encodeTemplateName },
  ms_template_v2: { oid: '1.3.6.1.4.1.311.21.7', decode: decodeTemplate, encode: encodeTemplate },
};

const extensionKinds = Object.keys(CODECS) as readonly ExtensionKind[];
const kindByOid: ReadonlyMap<string, ExtensionKind> = new Map(extensionKinds.map((kind) => [CODECS[kind].oid, kind]));

export const findExtensionKind = (oid: string): ExtensionKind | undefined => kindByOid.get(oid);

/** Throws `InvalidValue` for a value that the kind cannot hold. */
export function encodeExtension<K extends ExtensionKind>(kind: K, value: ExtensionValues[K], critical: boolean): Extension {
  const codec: Codec<ExtensionValues[K]> = CODECS[kind];
  return { oid: codec.oid, critical, value: codec.encode(value) };
}

export const isCritical = (extensions: Extensions, kind: ExtensionKind): boolean =>
  extensions.list.some((extension) => extension.critical && extension.oid === CODECS[kind].oid);

export const noExtensions: Extensions = { list: [], unsupported: [] };

/** `Extensions` of RFC 5280 §4.1; a second extension of the same kind is refused. Throws `DerError`. */
export function readExtensions(element: Der): Extensions {
  const list: Extension[] = [];
  const unsupported: Extension[] = [];
  const values: Partial<Record<ExtensionKind, unknown>> = {};
  const seen = new Set<string>();
  for (const item of someItemsOf(element)) {
    const fields = itemsOf(item);
    const hasCritical = fields.length === 3;
    const octets = itemAt(item, fields, hasCritical ? 2 : 1);
    requireEnd(fields, 3);
    // An explicit FALSE is no DER, but too common to be refused; `lint` reports it.
    const extension = { oid: oidOf(fields[0]!), critical: hasCritical && booleanOf(fields[1]!), value: octetStringOf(octets) };
    if (seen.has(extension.oid)) throw new DerError(`extension ${extension.oid} occurs twice`, item.start);
    seen.add(extension.oid);
    list.push(extension);
    const kind = kindByOid.get(extension.oid);
    if (kind === undefined) unsupported.push(extension);
    else values[kind] = CODECS[kind].decode(readInside(octets));
  }
  return { ...(values as Partial<ExtensionValues>), list, unsupported };
}

function decodeBasicConstraints(element: Der): BasicConstraints {
  const items = itemsOf(element);
  const first = items[0];
  const hasFlag = first?.tag === TAG.boolean;
  requireEnd(items, hasFlag ? 2 : 1);
  const pathLen = items[hasFlag ? 1 : 0];
  const isCa = hasFlag && booleanOf(first);
  return pathLen === undefined ? { isCa } : { isCa, pathLen: smallIntegerOf(pathLen) };
}

function encodeBasicConstraints({ isCa, pathLen }: BasicConstraints): Uint8Array {
  if (pathLen !== undefined && (!isCa || !Number.isSafeInteger(pathLen) || pathLen < 0))
    throw new InvalidValue('a path length is not negative and only for an authority');
  return write.sequence(...(isCa ? [write.bool(true)] : []), ...(pathLen === undefined ? [] : [write.integer(BigInt(pathLen))]));
}

function decodeKeyUsage(element: Der): readonly KeyUsage[] {
  const { octets } = bitStringOf(element);
  return keyUsages.filter((_, bit) => ((octets[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

/** A named bit list: without trailing zero bits (X.690 §11.2.2). */
function encodeKeyUsage(usages: readonly KeyUsage[]): Uint8Array {
  const bits = some(usages, 'key usage').reduce((sum, usage) => sum | (0x8000 >> keyUsages.indexOf(usage)), 0);
  const octets = (bits & 0xff) === 0 ? Uint8Array.of(bits >> 8) : Uint8Array.of(bits >> 8, bits & 0xff);
  const last = octets.at(-1)!;
  return write.bitString(octets, 31 - Math.clz32(last & -last));
}

function decodeAuthorityKeyIdentifier(element: Der): string {
  const items = itemsOf(element);
  const known = [implicitTag(0), constructedTag(1), implicitTag(2)];
  let place = 0;
  for (const item of items) {
    place = known.indexOf(item.tag, place) + 1;
    if (place === 0) throw new DerError('unexpected element', item.start);
  }
  return items[0]?.tag === implicitTag(0) ? toHex(octetStringOf(items[0], implicitTag(0))) : '';
}

/** DistributionPoint: the addresses in its full name. Reasons and CRL issuers are passed over. */
function urlsOfDistributionPoint(point: Der): readonly string[] {
  const name = itemsOf(point).find((item) => item.tag === constructedTag(0));
  if (name === undefined) return [];
  const choice = onlyItemOf(name, constructedTag(0));
  return choice.tag === constructedTag(0) ? urlsOf(itemsOf(choice, constructedTag(0))) : [];
}

const urlsOf = (names: readonly Der[]): readonly string[] =>
  names.filter((name) => name.tag === URI_TAG).map((name) => decodeString(name, TAG.ia5String));

function decodeInfoAccess(element: Der): AuthorityInfoAccess {
  const descriptions = someItemsOf(element).map((description) => {
    const items = itemsOf(description);
    requireEnd(items, 2);
    return { method: oidOf(itemAt(description, items, 0)), location: itemAt(description, items, 1) };
  });
  const urlsBy = (wanted: string): readonly string[] =>
    urlsOf(descriptions.filter(({ method }) => method === wanted).map(({ location }) => location));
  return { ocsp: urlsBy(OCSP), crt: urlsBy(CA_ISSUERS) };
}

function encodeInfoAccess({ ocsp, crt }: AuthorityInfoAccess): Uint8Array {
  const describe = (method: string) => (url: string) => write.sequence(write.oid(method), encodeUrl(url));
  return write.sequenceOf(some([...ocsp.map(describe(OCSP)), ...crt.map(describe(CA_ISSUERS))], 'authority information access'));
}

function decodePolicy(element: Der): CertificatePolicy {
  const items = itemsOf(element);
  requireEnd(items, 2);
  const qualifiers = items[1] === undefined ? [] : someItemsOf(items[1]).map((qualifier) => ({ qualifier, parts: itemsOf(qualifier) }));
  const statements = qualifiers.filter(({ qualifier, parts }) => oidOf(itemAt(qualifier, parts, 0)) === CPS);
  return {
    oid: oidOf(itemAt(element, items, 0)),
    urls: statements.map(({ qualifier, parts }) => decodeString(itemAt(qualifier, parts, 1), TAG.ia5String)),
  };
}

function encodePolicy({ oid, urls }: CertificatePolicy): Uint8Array {
  const qualifiers = urls.map((url) => write.sequence(write.oid(CPS), write.ia5String(validUrl(url))));
  return write.sequence(oidFor(oid), ...(qualifiers.length === 0 ? [] : [write.sequenceOf(qualifiers)]));
}

/** The items of a SEQUENCE SIZE (1..MAX). */
function someItemsOf(element: Der): readonly Der[] {
  const items = itemsOf(element);
  if (items.length === 0) throw new DerError('empty SEQUENCE', element.start);
  return items;
}

function some<T>(values: readonly T[], what: string): readonly T[] {
  if (values.length === 0) throw new InvalidValue(`no ${what}`);
  return values;
}

function octetsFor(hex: string): Uint8Array {
  const octets = fromHex(hex);
  if (octets === undefined || octets.length === 0) throw new InvalidValue(`invalid key identifier ${quoted(hex)}`);
  return octets;
}

function validUrl(url: string): string {
  if (!isAbsoluteUri(url)) throw new InvalidValue(`invalid URL ${quoted(url)}`);
  return url;
}

const encodeUrl = (url: string): Uint8Array => write.raw(URI_TAG, Buffer.from(validUrl(url), 'latin1'));
