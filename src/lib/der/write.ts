/** Writes DER. Each function returns one whole element; a parent copies its parts, so build from the leaves up. */

import { encodeOid } from './oid.ts';
import { constructedTag, implicitTag, TAG } from './tag.ts';

const utf8 = new TextEncoder();

/** An element of any tag in the low-tag-number form, its contents the parts one after another. */
export const raw = (tag: number, ...parts: readonly Uint8Array[]): Uint8Array => joined(tag, parts);

/** `raw` for a list of any length: as arguments, some 100,000 parts overflow the stack. */
function joined(tag: number, parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const lengthOctets = length < 0x80 ? 0 : length < 0x100 ? 1 : length < 0x1_0000 ? 2 : length < 0x100_0000 ? 3 : 4;
  const element = new Uint8Array(2 + lengthOctets + length);
  element[0] = tag;
  element[1] = lengthOctets === 0 ? length : 0x80 | lengthOctets;
  for (let i = 0; i < lengthOctets; i++) element[2 + i] = length >>> (8 * (lengthOctets - 1 - i));
  let offset = 2 + lengthOctets;
  for (const part of parts) {
    element.set(part, offset);
    offset += part.length;
  }
  return element;
}

export const sequence = (...parts: readonly Uint8Array[]): Uint8Array => joined(TAG.sequence, parts);

/** SEQUENCE OF, of any length. */
export const sequenceOf = (items: readonly Uint8Array[]): Uint8Array => joined(TAG.sequence, items);

/** SET OF, its members sorted as DER wants them (X.690 §11.6). */
export const set = (...members: readonly Uint8Array[]): Uint8Array => joined(TAG.set, [...members].sort(Buffer.compare));

/** A bigint of any sign, or octets that are read as an unsigned number. */
export const integer = (value: bigint | Uint8Array): Uint8Array =>
  raw(TAG.integer, typeof value === 'bigint' ? signedOctets(value) : unsignedOctets(value));

export const bool = (value: boolean): Uint8Array => Uint8Array.of(TAG.boolean, 1, value ? 0xff : 0x00);

export const nullValue = (): Uint8Array => Uint8Array.of(TAG.null, 0);

/** Throws `RangeError` for text that is no object identifier. */
export function oid(text: string): Uint8Array {
  const contents = encodeOid(text);
  if (contents === undefined) throw new RangeError(`not an object identifier: ${text.slice(0, 100)}`);
  return raw(TAG.oid, contents);
}

export const utf8String = (text: string): Uint8Array => raw(TAG.utf8String, utf8.encode(text));

/** Throws `RangeError` for characters outside the alphabet. */
export const printableString = (text: string): Uint8Array => asciiString(TAG.printableString, text, /^[A-Za-z0-9 '()+,\-./:=?]*$/);

/** Throws `RangeError` for characters outside ASCII. */
export const ia5String = (text: string): Uint8Array => asciiString(TAG.ia5String, text, /^\p{ASCII}*$/u);

/** Throws `RangeError` for characters outside the Basic Multilingual Plane. */
export function bmpString(text: string): Uint8Array {
  if (/[\ud800-\udfff]/.test(text)) throw new RangeError('BMPString holds no such character');
  return raw(TAG.bmpString, Buffer.from(text, 'utf16le').swap16());
}

export const octetString = (octets: Uint8Array): Uint8Array => raw(TAG.octetString, octets);

/** The `unused` low bits of the last octet must be 0. */
export const bitString = (octets: Uint8Array, unused = 0): Uint8Array => raw(TAG.bitString, Uint8Array.of(unused), octets);

/** Whole seconds: UTCTime from 1950 to 2049, else GeneralizedTime (RFC 5280 §4.1.2.5). Throws `RangeError` outside the years 0 to 9999. */
export function time(ms: number): Uint8Array {
  const iso = new Date(ms).toISOString();
  if (iso.length !== 24) throw new RangeError('the year of a time has four digits');
  const digits = `${iso.slice(0, 19).replace(/[-:T]/g, '')}Z`;
  const utc = digits >= '1950' && digits < '2050';
  return raw(utc ? TAG.utcTime : TAG.generalizedTime, utf8.encode(utc ? digits.slice(2) : digits));
}

/** `[n] EXPLICIT`. */
export const contextExplicit = (n: number, ...elements: readonly Uint8Array[]): Uint8Array => joined(constructedTag(n), elements);

/** `[n] IMPLICIT` of a primitive type, from its contents. */
export const contextImplicit = (n: number, contents: Uint8Array): Uint8Array => raw(implicitTag(n), contents);

function asciiString(tag: number, text: string, alphabet: RegExp): Uint8Array {
  if (!alphabet.test(text)) throw new RangeError('the string type holds no such character');
  return raw(tag, utf8.encode(text));
}

function unsignedOctets(octets: Uint8Array): Uint8Array {
  let start = 0;
  while (start < octets.length && octets[start] === 0) start++;
  if (start === octets.length) return Uint8Array.of(0);
  if (octets[start]! < 0x80) return octets.subarray(start);
  const padded = new Uint8Array(octets.length - start + 1);
  padded.set(octets.subarray(start), 1);
  return padded;
}

function signedOctets(value: bigint): Uint8Array {
  // An octet longer than the magnitude holds its sign bit too: 0x80 needs two octets, -0x80 one.
  const magnitude = value < 0n ? -value - 1n : value;
  const length = Math.floor(magnitude.toString(16).length / 2) + 1;
  const hex = BigInt.asUintN(length * 8, value)
    .toString(16)
    .padStart(length * 2, '0');
  const octets = Uint8Array.from(Buffer.from(hex, 'hex'));
  const superfluous = length > 1 && ((octets[0] === 0 && octets[1]! < 0x80) || (octets[0] === 0xff && octets[1]! >= 0x80));
  return superfluous ? octets.subarray(1) : octets;
}
