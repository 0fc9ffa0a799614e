/** ASN.1's character string types, read. Nothing is cut off or replaced: NUL and control characters are data. */

import { contentOf, type Der, DerError } from '../der/read.ts';
import { TAG } from '../der/tag.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** undefined for octets that the type cannot hold. */
type Decoder = (octets: Uint8Array) => string | undefined;

const DECODERS: ReadonlyMap<number, Decoder> = new Map<number, Decoder>([
  [TAG.utf8String, decodeUtf8],
  // `* & @ _` are outside the alphabet, but certificates that have them there are common.
  [TAG.printableString, (octets) => within(octets, /^[A-Za-z0-9 '()+,\-./:=?*&@_]*$/)],
  [TAG.ia5String, decodeAscii],
  [TAG.numericString, (octets) => within(octets, /^[0-9 ]*$/)],
  [TAG.t61String, latin1],
  [TAG.bmpString, decodeBmp],
  [TAG.universalString, decodeUniversal],
]);

export const isStringTag = (tag: number): boolean => DECODERS.has(tag);

/** The text of any string type, or of `tag` in place of the element's own (IMPLICIT). Throws `DerError`. */
export function decodeString(element: Der, tag = element.tag): string {
  const text = DECODERS.get(tag)?.(contentOf(element));
  if (text === undefined) throw new DerError('invalid character string', element.start);
  return text;
}

function latin1(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
}

function isAscii(octets: Uint8Array): boolean {
  for (let i = 0; i < octets.length; i++) if (octets[i]! >= 0x80) return false;
  return true;
}

function decodeAscii(octets: Uint8Array): string | undefined {
  return isAscii(octets) ? latin1(octets) : undefined;
}

function within(octets: Uint8Array, alphabet: RegExp): string | undefined {
  const text = latin1(octets);
  return alphabet.test(text) ? text : undefined;
}

function decodeUtf8(octets: Uint8Array): string | undefined {
  if (isAscii(octets)) return latin1(octets);
  try {
    return utf8.decode(octets);
  } catch {
    return undefined;
  }
}

/** UCS-2: surrogates are no characters of it. */
function decodeBmp(octets: Uint8Array): string | undefined {
  if (octets.length % 2 !== 0) return undefined;
  const text = Buffer.from(octets).swap16().toString('utf16le');
  return /[\ud800-\udfff]/.test(text) ? undefined : text;
}

function decodeUniversal(octets: Uint8Array): string | undefined {
  if (octets.length % 4 !== 0) return undefined;
  const view = new DataView(octets.buffer, octets.byteOffset, octets.length);
  const characters: string[] = [];
  for (let offset = 0; offset < octets.length; offset += 4) {
    const code = view.getUint32(offset);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
    characters.push(String.fromCodePoint(code));
  }
  return characters.join('');
}
