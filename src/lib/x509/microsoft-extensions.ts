/**
 * The values of three extensions of Microsoft's certificate services ([MS-WCCE] §2.2.2.7.7): who the subject is in its
 * directory, and by which template it was issued.
 */

import { type Der, DerError, itemAt, itemsOf, octetStringOf, oidOf, onlyItemOf, requireEnd, smallIntegerOf } from '../der/read.ts';
import { TAG } from '../der/tag.ts';
import { bmpString, integer, octetString, sequence } from '../der/write.ts';
import { decodeString } from './directory-string.ts';
import { encodeOtherName, otherNameOf } from './general-names.ts';
import { InvalidValue, oidFor, quoted } from './invalid-value.ts';

const SID = '1.3.6.1.4.1.311.25.2.1';

export function decodeSid(element: Der): string {
  const { typeId, value } = otherNameOf(onlyItemOf(element, TAG.sequence));
  if (typeId !== SID) throw new DerError('not a security identifier', element.start);
  octetStringOf(value);
  return decodeString(value, TAG.ia5String);
}

export function encodeSid(sid: string): Uint8Array {
  if (!/^S-1-\d{1,15}(-\d{1,10}){1,15}$/.test(sid)) throw new InvalidValue(`invalid security identifier ${quoted(sid)}`);
  return sequence(encodeOtherName(SID, octetString(Buffer.from(sid, 'latin1'))));
}

export function encodeTemplateName(name: string): Uint8Array {
  if (name === '' || /[\ud800-\udfff]/.test(name)) throw new InvalidValue(`invalid template name ${quoted(name)}`);
  return bmpString(name);
}

export function decodeTemplate(element: Der): string {
  const items = itemsOf(element);
  requireEnd(items, 3);
  return [oidOf(itemAt(element, items, 0)), ...items.slice(1).map((version) => smallIntegerOf(version))].join(':');
}

export function encodeTemplate(text: string): Uint8Array {
  const [oid = '', ...versions] = text.split(':');
  if (versions.length > 2 || !versions.every((version) => /^(0|[1-9]\d{0,9})$/.test(version)))
    throw new InvalidValue(`invalid template ${quoted(text)}`);
  return sequence(oidFor(oid), ...versions.map((version) => integer(BigInt(version))));
}
