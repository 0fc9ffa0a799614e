/**
 * Distinguished names (RFC 5280 §4.1.2.4): read, written, and shown as RFC 4514 text. There is no parser of such text:
 * names come in as elements.
 */

import { toHex } from '../der/octets.ts';
import { type Der, DerError, itemAt, itemsOf, oidOf, rawOf, readDer, requireEnd } from '../der/read.ts';
import { TAG } from '../der/tag.ts';
import { requireWellFormed } from '../der/well-formed.ts';
import { ia5String, oid, printableString, sequence, sequenceOf, set, utf8String } from '../der/write.ts';
import { decodeString, isStringTag } from './directory-string.ts';
import { InvalidValue, quoted } from './invalid-value.ts';

export interface Attribute {
  readonly oid: string;
  /** The display name (`CN`), or the dotted text of a type that has none. */
  readonly type: string;
  /** The text; `#` and the DER in hexadecimal for a value that is none. */
  readonly value: string;
  readonly isText: boolean;
}

export interface Name {
  /** The DER of the whole Name: what names are compared by. */
  readonly der: Uint8Array;
  /** Root first, as encoded; an RDN with several attributes has them in the order of their DER. */
  readonly rdns: readonly (readonly Attribute[])[];
}

/** One attribute to be encoded, `type` in any spelling of `attributeTypes`. */
export interface NameElement {
  readonly type: string;
  readonly value: string;
}

export interface AttributeType {
  readonly oid: string;
  /** The name in requests and templates. */
  readonly wire: string;
  /** The name in answers and in DN texts. */
  readonly display: string;
  readonly encode: (text: string) => Uint8Array;
  /** Characters; upper bounds of RFC 5280 Appendix A.1, X.520 Annex C, RFC 4524 and PKCS #9. */
  readonly lengthMax: number;
}

const attribute = (identifier: string, wire: string, display: string, lengthMax: number, encode = utf8String): AttributeType => ({
  oid: identifier,
  wire,
  display,
  encode,
  lengthMax,
});

export const attributeTypes: readonly AttributeType[] = [
  attribute('2.5.4.3', 'cn', 'CN', 64),
  attribute('1.2.840.113549.1.9.1', 'e', 'E', 255, ia5String),
  attribute('2.5.4.11', 'ou', 'OU', 64),
  attribute('2.5.4.8', 'st', 'ST', 128),
  attribute('2.5.4.7', 'l', 'L', 128),
  attribute('2.5.4.10', 'o', 'O', 64),
  attribute('2.5.4.6', 'c', 'C', 2, printableString),
  attribute('0.9.2342.19200300.100.1.25', 'dc', 'DC', 63, ia5String),
  attribute('0.9.2342.19200300.100.1.1', 'uid', 'UID', 256),
  attribute('2.5.4.5', 'serialNumber', 'SERIALNUMBER', 64, printableString),
  attribute('2.5.4.4', 'surname', 'SURNAME', 32_768),
  attribute('2.5.4.42', 'givenName', 'GIVENNAME', 32_768),
  attribute('1.2.840.113549.1.9.8', 'unstructuredAddress', 'unstructuredAddress', 255),
  attribute('1.2.840.113549.1.9.2', 'unstructuredName', 'unstructuredName', 255),
  attribute('2.5.4.97', 'organizationIdentifier', 'organizationIdentifier', 256),
  attribute('2.5.4.45', 'uniqueIdentifier', 'UniqueIdentifier', 256),
  attribute('2.5.4.9', 'street', 'STREET', 128),
  attribute('2.5.4.13', 'description', 'DESCRIPTION', 1024),
  attribute('2.5.4.12', 't', 'T', 64),
];

const byOid: ReadonlyMap<string, AttributeType> = new Map(attributeTypes.map((type) => [type.oid, type]));
const bySpelling: ReadonlyMap<string, AttributeType> = new Map(
  attributeTypes.flatMap((type) => [
    [type.wire.toLowerCase(), type],
    [type.display.toLowerCase(), type],
  ]),
);

/** By the wire or display name, in any case. */
export const findAttributeType = (name: string): AttributeType | undefined => bySpelling.get(name.toLowerCase());

/** Throws `DerError`. */
export const parseName = (der: Uint8Array): Name => readName(readDer(der));

export function readName(element: Der): Name {
  return { der: rawOf(element), rdns: itemsOf(element).map(readRdn) };
}

function readRdn(element: Der): readonly Attribute[] {
  const members = itemsOf(element, TAG.set);
  if (members.length === 0) throw new DerError('empty RDN', element.start);
  return members.map(readAttribute);
}

function readAttribute(element: Der): Attribute {
  const items = itemsOf(element);
  requireEnd(items, 2);
  const identifier = oidOf(itemAt(element, items, 0));
  const value = itemAt(element, items, 1);
  const type = byOid.get(identifier)?.display ?? identifier;
  if (isStringTag(value.tag)) return { oid: identifier, type, value: decodeString(value), isText: true };
  // X.520 knows types that are no texts (x500UniqueIdentifier, postalAddress); they are kept, well formed or not at all.
  if (value.tag !== TAG.bitString && value.tag !== TAG.sequence) throw new DerError('attribute value is no string', value.start);
  requireWellFormed(value);
  return { oid: identifier, type, value: `#${toHex(rawOf(value))}`, isText: false };
}

/** `CN=…,OU=…,O=…`: leaf first, RFC 4514. */
export function formatDn(name: Name): string {
  return name.rdns
    .map((rdn) => rdn.map(formatAttribute).join('+'))
    .reverse()
    .join(',');
}

const formatAttribute = ({ type, value, isText }: Attribute): string => `${type}=${isText ? escapeValue(value) : value}`;

function escapeValue(value: string): string {
  if (!/[^A-Za-z0-9.@:/*_-]/.test(value)) return value;
  return value
    .replace(/[,+"\\<>;]|^[ #]| $/g, '\\$&')
    .replace(/\p{Cc}/gu, (control) => [...Buffer.from(control)].map((octet) => `\\${octet.toString(16).padStart(2, '0')}`).join(''));
}

/**
 * A Name with one attribute in each RDN, in the order given: root first, so `C` before `CN`. Strings are encoded as RFC 5280 wants them.
 * Throws `InvalidValue`.
 */
export const encodeName = (elements: readonly NameElement[]): Uint8Array =>
  sequenceOf(elements.map((element) => set(encodeAttribute(element))));

function encodeAttribute({ type: spelling, value }: NameElement): Uint8Array {
  const type = findAttributeType(spelling);
  if (type === undefined) throw new InvalidValue(`unknown DN element type ${quoted(spelling)}`);
  const length = [...value].length;
  if (length === 0) throw new InvalidValue(`${type.display} is empty`);
  if (length > type.lengthMax) throw new InvalidValue(`${type.display} has ${length} characters, at most ${type.lengthMax} are allowed`);
  if (type.wire === 'c' && !/^[A-Za-z]{2}$/.test(value)) throw new InvalidValue(`C must be two letters, not ${quoted(value)}`);
  if (!value.isWellFormed()) throw new InvalidValue(`${type.display} is not well-formed Unicode`);
  try {
    return sequence(oid(type.oid), type.encode(value));
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidValue(`${type.display} holds a character that its type has not: ${quoted(value)}`);
    throw error;
  }
}
