/**
 * Identifier octets that X.509 and its relatives use. A tag is its first octet as it stands on the wire; a multi-octet tag
 * is `number << 8 | first octet`.
 */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** `[n] IMPLICIT` of a primitive type, n below 31. */
export const implicitTag = (n: number): number => 0x80 | n;

/** `[n] EXPLICIT`, or `[n] IMPLICIT` of a constructed type, n below 31. */
export const constructedTag = (n: number): number => 0xa0 | n;
