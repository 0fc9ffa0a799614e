/**
 * A strict reader of DER (X.690 §10, §11) that copies nothing: an element points into the bytes that it was read from.
 * It knows ASN.1's basic types and no structure above them.
 */

import { toNumber } from './octets.ts';
import { decodeOid } from './oid.ts';
import { TAG } from './tag.ts';

const SIZE_MAX = 1 << 20;
const DEPTH_MAX = 32;
const CHILDREN_MAX = 10_000;

/** The input is not what it must be. `offset` counts octets from its start (characters, where the input is a text). */
export class DerError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(`${message} (at ${offset})`);
    this.name = 'DerError';
    this.offset = offset;
  }
}

/** One element: header at `start`, contents from `content` to `end`. `tag` as in `tag.ts`. */
export interface Der {
  readonly bytes: Uint8Array;
  readonly tag: number;
  readonly start: number;
  readonly content: number;
  readonly end: number;
  readonly depth: number;
}

/** The one element that `bytes` is, of 1 MiB at most; anything after it is refused. Throws `DerError`. */
export function readDer(bytes: Uint8Array): Der {
  if (bytes.length > SIZE_MAX) throw new DerError(`larger than ${SIZE_MAX} octets`, SIZE_MAX);
  const element = readElement(bytes, 0, bytes.length, 0);
  if (element.end !== bytes.length) throw new DerError('data after the end', element.end);
  return element;
}

/** The elements inside a constructed element, at most 10,000; `readChild` walks longer lists. */
export function childrenOf(parent: Der): readonly Der[] {
  const children: Der[] = [];
  for (let offset = parent.content; offset < parent.end; ) {
    if (children.length === CHILDREN_MAX) throw new DerError('too many elements', offset);
    const child = readChild(parent, offset);
    children.push(child);
    offset = child.end;
  }
  if (children.length === 0) requireConstructed(parent);
  return children;
}

/** The element of `parent` that starts at `offset`: `parent.content` for the first, the previous element's `end` for the next. */
export function readChild(parent: Der, offset: number): Der {
  requireConstructed(parent);
  return readElement(parent.bytes, offset, parent.end, parent.depth + 1);
}

/** `childrenOf` an element that must have this tag. */
export function itemsOf(element: Der, tag: number = TAG.sequence): readonly Der[] {
  requireTag(element, tag);
  return childrenOf(element);
}

/** The only element inside a constructed one: what an EXPLICIT tag wraps. */
export function onlyItemOf(element: Der, tag: number): Der {
  const items = itemsOf(element, tag);
  if (items.length !== 1) throw new DerError(`one element expected, ${items.length} found`, element.content);
  return items[0]!;
}

/** The element that an OCTET STRING or another string of octets holds. */
export function readInside(element: Der, content: number = element.content): Der {
  const inner = readElement(element.bytes, content, element.end, element.depth + 1);
  if (inner.end !== element.end) throw new DerError('data after the end', inner.end);
  return inner;
}

/** Header and contents. */
export const rawOf = (element: Der): Uint8Array => element.bytes.subarray(element.start, element.end);

/** Contents without the header. */
export const contentOf = (element: Der): Uint8Array => element.bytes.subarray(element.content, element.end);

function requireTag(element: Der, tag: number): void {
  if (element.tag !== tag) throw new DerError(`tag ${tag.toString(16)} expected, ${element.tag.toString(16)} found`, element.start);
}

/** Refuses elements that the structure has no place for. */
export function requireEnd(items: readonly Der[], count: number): void {
  if (items.length > count) throw new DerError('unexpected element', items[count]!.start);
}

/** The item of a structure that must be there. */
export function itemAt(parent: Der, items: readonly Der[], index: number): Der {
  const item = items[index];
  if (item === undefined) throw new DerError('element missing', parent.end);
  return item;
}

export function booleanOf(element: Der, tag: number = TAG.boolean): boolean {
  requireTag(element, tag);
  const value = element.bytes[element.content];
  if (element.end - element.content !== 1 || (value !== 0x00 && value !== 0xff)) throw new DerError('invalid BOOLEAN', element.content);
  return value === 0xff;
}

/** The two's complement contents of a minimal INTEGER. */
export function integerBytesOf(element: Der, tag: number = TAG.integer): Uint8Array {
  requireTag(element, tag);
  const { bytes, content, end } = element;
  if (end === content) throw new DerError('empty INTEGER', content);
  const first = bytes[content]!;
  if (end - content > 1 && (first === 0x00 || first === 0xff) && bytes[content + 1]! >> 7 === first >> 7)
    throw new DerError('INTEGER is not minimal', content);
  return bytes.subarray(content, end);
}

/** A non-negative INTEGER of at most 6 octets. */
export function smallIntegerOf(element: Der, tag: number = TAG.integer): number {
  const contents = integerBytesOf(element, tag);
  if (contents[0]! >= 0x80 || contents.length > 6) throw new DerError('INTEGER out of range', element.content);
  let value = 0;
  for (const octet of contents) value = value * 256 + octet;
  return value;
}

export function integerOf(element: Der, tag: number = TAG.integer): bigint {
  const contents = integerBytesOf(element, tag);
  const unsigned = toNumber(contents);
  return contents[0]! < 0x80 ? unsigned : unsigned - (1n << BigInt(contents.length * 8));
}

export function octetStringOf(element: Der, tag: number = TAG.octetString): Uint8Array {
  requireTag(element, tag);
  return contentOf(element);
}

/** The octets of a BIT STRING and how many bits of the last one do not count (they are 0). */
export function bitStringOf(element: Der, tag: number = TAG.bitString): { readonly unused: number; readonly octets: Uint8Array } {
  requireTag(element, tag);
  const { bytes, content, end } = element;
  const unused = bytes[content]!;
  if (end === content || unused > 7 || (end - content === 1 && unused > 0)) throw new DerError('invalid BIT STRING', content);
  if ((bytes[end - 1]! & ((1 << unused) - 1)) !== 0 && end - content > 1)
    throw new DerError('unused bits of a BIT STRING are set', end - 1);
  return { unused, octets: bytes.subarray(content + 1, end) };
}

/** The octets of a BIT STRING whose length is a multiple of eight: keys and signatures. */
export function wholeBitStringOf(element: Der, tag: number = TAG.bitString): Uint8Array {
  const { unused, octets } = bitStringOf(element, tag);
  if (unused !== 0) throw new DerError('BIT STRING of whole octets expected', element.content);
  return octets;
}

export function requireNull(element: Der): void {
  requireTag(element, TAG.null);
  if (element.end !== element.content) throw new DerError('invalid NULL', element.content);
}

/** Dotted text. */
export function oidOf(element: Der, tag: number = TAG.oid): string {
  requireTag(element, tag);
  const text = decodeOid(element.bytes, element.content, element.end);
  if (text === undefined) throw new DerError('invalid OBJECT IDENTIFIER', element.content);
  return text;
}

/** UTCTime or GeneralizedTime in the form of RFC 5280 §4.1.2.5, as milliseconds since 1970. */
export function timeOf(element: Der): number {
  const { bytes, content, end, tag } = element;
  const yearDigits = tag === TAG.utcTime ? 2 : 4;
  if (tag !== TAG.utcTime) requireTag(element, TAG.generalizedTime);
  if (end - content !== yearDigits + 11 || bytes[end - 1] !== 0x5a) throw new DerError('time is not (YY)YYMMDDHHMMSSZ', content);
  const first = twoDigits(bytes, content);
  const year = yearDigits === 4 ? first * 100 + twoDigits(bytes, content + 2) : first + (first >= 50 ? 1900 : 2000);
  const rest = content + yearDigits;
  const month = twoDigits(bytes, rest);
  const day = twoDigits(bytes, rest + 2);
  const hour = twoDigits(bytes, rest + 4);
  const minute = twoDigits(bytes, rest + 6);
  const second = twoDigits(bytes, rest + 8);
  const days = new Date(0).setUTCFullYear(year, month - 1, day);
  if (month < 1 || month > 12 || day < 1 || new Date(days).getUTCDate() !== day || hour > 23 || minute > 59 || second > 59)
    throw new DerError('no such time', content);
  return days + hour * 3_600_000 + minute * 60_000 + second * 1_000;
}

function twoDigits(bytes: Uint8Array, offset: number): number {
  const tens = bytes[offset]! - 0x30;
  const ones = bytes[offset + 1]! - 0x30;
  if (tens < 0 || tens > 9 || ones < 0 || ones > 9) throw new DerError('digit expected', offset);
  return tens * 10 + ones;
}

function requireConstructed(element: Der): void {
  if ((element.tag & 0x20) === 0) throw new DerError('constructed element expected', element.start);
}

function readElement(bytes: Uint8Array, start: number, limit: number, depth: number): Der {
  if (depth > DEPTH_MAX) throw new DerError(`nested deeper than ${DEPTH_MAX}`, start);
  if (limit - start < 2) throw new DerError('header cut off', start);
  let tag = bytes[start]!;
  let offset = start + 1;
  if ((tag & 0x1f) === 0x1f) {
    const number = readTagNumber(bytes, offset, limit);
    offset += number < 0x80 ? 1 : number < 0x4000 ? 2 : 3;
    tag |= number << 8;
  } else if (tag === 0) throw new DerError('tag 0 is reserved', start);
  if (offset >= limit) throw new DerError('header cut off', offset);
  let length = bytes[offset++]!;
  if (length >= 0x80) {
    const octets = length - 0x80;
    length = readLongLength(bytes, offset, octets, limit);
    offset += octets;
  }
  if (length > limit - offset) throw new DerError('length past the end', offset);
  return { bytes, tag, start, content: offset, end: offset + length, depth };
}

function readLongLength(bytes: Uint8Array, offset: number, octets: number, limit: number): number {
  if (octets === 0) throw new DerError('indefinite length', offset - 1);
  if (octets > 4) throw new DerError('length past the end', offset - 1);
  if (octets > limit - offset) throw new DerError('header cut off', offset);
  let length = 0;
  for (let i = 0; i < octets; i++) length = length * 256 + bytes[offset + i]!;
  if (length < 0x80 || bytes[offset] === 0) throw new DerError('length is not minimal', offset - 1);
  return length;
}

/** At most three octets of seven bits, the first not empty, and no number that the short form can hold (X.690 §8.1.2.4). */
function readTagNumber(bytes: Uint8Array, offset: number, limit: number): number {
  let number = 0;
  for (let i = 0; i < 3 && offset + i < limit; i++) {
    const octet = bytes[offset + i]!;
    number = (number << 7) | (octet & 0x7f);
    if (number === 0) break;
    if (octet < 0x80) {
      if (number < 0x1f) break;
      return number;
    }
  }
  throw new DerError('invalid tag', offset);
}
