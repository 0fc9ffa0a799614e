/** Checks an element of which the reader knows no structure, so that what is kept unread is DER all the same. */

import { bitStringOf, booleanOf, childrenOf, type Der, DerError, integerBytesOf, oidOf, requireNull, timeOf } from './read.ts';
import { TAG } from './tag.ts';

const CHECKS: ReadonlyMap<number, (element: Der) => unknown> = new Map<number, (element: Der) => unknown>([
  [TAG.boolean, booleanOf],
  [TAG.integer, integerBytesOf],
  [TAG.enumerated, (element) => integerBytesOf(element, TAG.enumerated)],
  [TAG.bitString, bitStringOf],
  [TAG.null, requireNull],
  [TAG.oid, oidOf],
  [TAG.utcTime, timeOf],
  [TAG.generalizedTime, timeOf],
  [TAG.bmpString, (element) => requireMultiple(element, 2)],
  [TAG.universalString, (element) => requireMultiple(element, 4)],
]);

/** EXTERNAL, EMBEDDED PDV, SEQUENCE, SET: the universal types that are constructed; in DER all others are primitive. */
const CONSTRUCTED: readonly number[] = [0x08, 0x0b, 0x10, 0x11];

/** Types, lengths and basic values at every depth. Throws `DerError`. */
export function requireWellFormed(element: Der): void {
  const isConstructed = (element.tag & 0x20) !== 0;
  if ((element.tag & 0xc0) === 0 && CONSTRUCTED.includes(element.tag & ~0x20) !== isConstructed)
    throw new DerError('a primitive type that is constructed, or the reverse', element.start);
  CHECKS.get(element.tag)?.(element);
  if (isConstructed) childrenOf(element).forEach(requireWellFormed);
}

function requireMultiple(element: Der, size: number): void {
  if ((element.end - element.content) % size !== 0) throw new DerError('a character is cut off', element.end);
}
