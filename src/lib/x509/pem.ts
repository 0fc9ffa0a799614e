/** PEM (RFC 7468): blocks in a text, both ways. No encrypted or otherwise headed PEM (RFC 1421). */

import { DerError } from '../der/read.ts';

/** Characters. */
const TEXT_MAX = 2 << 20;
const BEGIN = '-----BEGIN ';
const LABEL = /^[A-Z0-9]+([ -][A-Z0-9]+)*$/;

export interface PemBlock {
  readonly label: string;
  readonly der: Uint8Array;
}

/**
 * All blocks of a text in their order; other text around them is passed over. Lines may be of any length and end in any way.
 * Throws `DerError` with the position in the text.
 */
export function parsePem(text: string): readonly PemBlock[] {
  if (text.length > TEXT_MAX) throw new DerError(`PEM: longer than ${TEXT_MAX} characters`, TEXT_MAX);
  const blocks: PemBlock[] = [];
  for (let begin = text.indexOf(BEGIN); begin >= 0; ) {
    const labelStart = begin + BEGIN.length;
    const labelEnd = text.slice(labelStart, labelStart + 70).indexOf('-----') + labelStart;
    const label = text.slice(labelStart, Math.max(labelStart, labelEnd));
    if (!LABEL.test(label)) throw new DerError('PEM: invalid label', labelStart);
    const boundary = `-----END ${label}-----`;
    const end = text.indexOf(boundary, labelEnd + 5);
    if (end < 0) throw new DerError(`PEM: no end of ${label}`, begin);
    blocks.push({ label, der: decodeBase64(text.slice(labelEnd + 5, end), labelEnd + 5) });
    begin = text.indexOf(BEGIN, end + boundary.length);
  }
  return blocks;
}

/** One block, lines of 64 characters, a newline at the end. */
export function encodePem(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der.buffer, der.byteOffset, der.length).toString('base64');
  return `${BEGIN}${label}-----\n${base64.replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;
}

/** Base64 with its padding; white space is passed over. Throws `DerError`; `offset` is where the text stands in a larger one. */
export function decodeBase64(text: string, offset = 0): Uint8Array {
  if (text.length > TEXT_MAX) throw new DerError(`base64: longer than ${TEXT_MAX} characters`, offset + TEXT_MAX);
  const compact = text.replace(/[ \t\r\n]+/g, '');
  const octets = Buffer.from(compact, 'base64');
  // Node's decoder passes over what it does not know; only what it would write itself is base64 in the strict sense.
  if (octets.length === 0 || octets.toString('base64') !== compact) throw new DerError('PEM: invalid base64', offset);
  // A copy: the buffer may be a slice of Node's pool.
  return Uint8Array.from(octets);
}
