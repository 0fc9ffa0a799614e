/**
 * GeneralNames (RFC 5280 §4.2.1.6): the seven kinds of subject alternative name that the service's interface has.
 * Reading keeps names as data; only writing checks what they say.
 */

import { fromHex, toHex } from '../der/octets.ts';
import { encodeOid } from '../der/oid.ts';
import { contentOf, type Der, DerError, itemAt, itemsOf, octetStringOf, oidOf, onlyItemOf, rawOf, requireEnd } from '../der/read.ts';
import { constructedTag, implicitTag, TAG } from '../der/tag.ts';
import { requireWellFormed } from '../der/well-formed.ts';
import { contextExplicit, contextImplicit, octetString, oid, raw, sequenceOf, utf8String } from '../der/write.ts';
import { decodeString } from './directory-string.ts';
import { InvalidValue, quoted } from './invalid-value.ts';
import { formatIp, parseIp } from './ip-address.ts';
import { readName } from './name.ts';

export type SanType = 'RFC822NAME' | 'DNSNAME' | 'URI' | 'IPADDRESS' | 'OTHERNAME_UPN' | 'OTHERNAME_GUID' | 'REGISTERED_ID';

/**
 * `value` as text: an address in its canonical form (RFC 5952), a GUID as 32 lower-case hexadecimal digits (its octets as they stand),
 * an identifier in dotted form.
 */
export interface GeneralName {
  readonly type: SanType;
  readonly value: string;
}

export interface GeneralNames {
  readonly names: readonly GeneralName[];
  /** The DER of names of other kinds (directoryName, other otherNames). */
  readonly unsupported: readonly Uint8Array[];
}

const UPN = '1.3.6.1.4.1.311.20.2.3';
const GUID = '1.3.6.1.4.1.311.25.1';
const RFC822 = 1;
const DNS = 2;
const DIRECTORY = 4;
const URI = 6;
const IP = 7;
const REGISTERED = 8;

/** The tag of a URI among GeneralNames. */
export const URI_TAG = implicitTag(URI);

/** x400Address and ediPartyName. */
const UNSUPPORTED_TAGS: readonly number[] = [constructedTag(3), constructedTag(5)];

/** The contents of a GeneralNames that is not empty. Throws `DerError`. */
export function readGeneralNames(parent: Der, tag: number = TAG.sequence): GeneralNames {
  const names: GeneralName[] = [];
  const unsupported: Uint8Array[] = [];
  const items = itemsOf(parent, tag);
  if (items.length === 0) throw new DerError('empty GeneralNames', parent.start);
  for (const item of items) {
    const name = readGeneralName(item);
    if (name === undefined) unsupported.push(rawOf(item));
    else names.push(name);
  }
  return { names, unsupported };
}

/** undefined for a kind that has no name here. */
function readGeneralName(element: Der): GeneralName | undefined {
  if (element.tag === implicitTag(DNS)) return { type: 'DNSNAME', value: decodeString(element, TAG.ia5String) };
  if (element.tag === implicitTag(RFC822)) return { type: 'RFC822NAME', value: decodeString(element, TAG.ia5String) };
  if (element.tag === implicitTag(URI)) return { type: 'URI', value: decodeString(element, TAG.ia5String) };
  if (element.tag === implicitTag(IP)) return { type: 'IPADDRESS', value: readIp(element) };
  if (element.tag === implicitTag(REGISTERED)) return { type: 'REGISTERED_ID', value: oidOf(element, implicitTag(REGISTERED)) };
  if (element.tag === constructedTag(0)) return readOtherName(element);
  if (element.tag === constructedTag(DIRECTORY)) readName(onlyItemOf(element, constructedTag(DIRECTORY)));
  else if (UNSUPPORTED_TAGS.includes(element.tag)) requireWellFormed(element);
  else throw new DerError('not a GeneralName', element.start);
  return undefined;
}

function readIp(element: Der): string {
  const text = formatIp(contentOf(element));
  if (text === undefined) throw new DerError('an address has 4 or 16 octets', element.content);
  return text;
}

function readOtherName(element: Der): GeneralName | undefined {
  const { typeId, value } = otherNameOf(element);
  if (typeId === UPN && value.tag === TAG.utf8String) return { type: 'OTHERNAME_UPN', value: decodeString(value) };
  if (typeId === GUID && value.tag === TAG.octetString) return { type: 'OTHERNAME_GUID', value: toHex(octetStringOf(value)) };
  requireWellFormed(value);
  return undefined;
}

/** OtherName behind the tag `[0]`: type and the element that its EXPLICIT tag wraps. */
export function otherNameOf(element: Der): { readonly typeId: string; readonly value: Der } {
  const items = itemsOf(element, constructedTag(0));
  requireEnd(items, 2);
  return { typeId: oidOf(itemAt(element, items, 0)), value: onlyItemOf(itemAt(element, items, 1), constructedTag(0)) };
}

/** Throws `InvalidValue` for an empty list or a name with invalid syntax. */
export function encodeGeneralNames(names: readonly GeneralName[]): Uint8Array {
  if (names.length === 0) throw new InvalidValue('no subject alternative name');
  return sequenceOf(names.map(encodeGeneralName));
}

interface Encoder {
  readonly isValid: (value: string) => boolean;
  readonly encode: (value: string) => Uint8Array;
}

const ascii = (value: string): Uint8Array => Buffer.from(value, 'latin1');

const ENCODERS: Readonly<Record<SanType, Encoder>> = {
  RFC822NAME: { isValid: isMailbox, encode: (value) => contextImplicit(RFC822, ascii(value)) },
  DNSNAME: { isValid: isDnsName, encode: (value) => contextImplicit(DNS, ascii(value)) },
  URI: { isValid: isAbsoluteUri, encode: (value) => contextImplicit(URI, ascii(value)) },
  IPADDRESS: { isValid: (value) => parseIp(value) !== undefined, encode: (value) => contextImplicit(IP, parseIp(value)!) },
  OTHERNAME_UPN: { isValid: isUserPrincipalName, encode: (value) => encodeOtherName(UPN, utf8String(value)) },
  OTHERNAME_GUID: {
    isValid: (value) => value.length === 32 && fromHex(value) !== undefined,
    encode: (value) => encodeOtherName(GUID, octetString(fromHex(value)!)),
  },
  REGISTERED_ID: {
    isValid: (value) => encodeOid(value) !== undefined,
    encode: (value) => contextImplicit(REGISTERED, encodeOid(value)!),
  },
};

/** Whether `encodeGeneralNames` takes the name. */
export const isValidGeneralName = ({ type, value }: GeneralName): boolean => ENCODERS[type].isValid(value);

function encodeGeneralName({ type, value }: GeneralName): Uint8Array {
  if (!ENCODERS[type].isValid(value)) throw new InvalidValue(`invalid ${type} ${quoted(value)}`);
  return ENCODERS[type].encode(value);
}

export const encodeOtherName = (typeId: string, value: Uint8Array): Uint8Array =>
  raw(constructedTag(0), oid(typeId), contextExplicit(0, value));

/** Letters, digits and hyphens (names in other scripts as A-labels), one leading `*.` allowed, and no address in disguise. */
function isDnsName(value: string): boolean {
  if (value.length > 253) return false;
  const labels = (value.startsWith('*.') ? value.slice(2) : value).split('.');
  return labels.every((label) => /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label)) && !/^\d+$/.test(labels.at(-1)!);
}

/** Mailbox of RFC 5321 §4.1.2 with a dot-string before the `@`; no quoted strings, no address literals. */
function isMailbox(value: string): boolean {
  const [local = '', domain = '', ...more] = value.split('@');
  const atoms = local.split('.');
  return (
    value.length <= 254 &&
    more.length === 0 &&
    local.length <= 64 &&
    atoms.every((atom) => /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+$/.test(atom)) &&
    !domain.startsWith('*') &&
    isDnsName(domain)
  );
}

/** A scheme, and after it only what RFC 3986 allows in a URI. */
export function isAbsoluteUri(value: string): boolean {
  return (
    value.length <= 2048 &&
    /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(value) &&
    !/%(?![0-9A-Fa-f]{2})/.test(value) &&
    !/^[^:]+:\/\/($|[?#])/.test(value)
  );
}

/** user@realm in any script. */
function isUserPrincipalName(value: string): boolean {
  return value.length <= 1024 && value.isWellFormed() && /^[^@\p{Cc}]+@[^@\p{Cc}\s]+$/u.test(value);
}
