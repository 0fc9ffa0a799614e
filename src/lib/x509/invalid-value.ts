/** What encoders say of values that a certificate must not hold. Unlike `DerError` it concerns our own input, not bytes. */

import { oid } from '../der/write.ts';

/** A value that cannot be encoded; the message says which and why, fit to be shown to whoever sent it. */
export class InvalidValue extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidValue';
  }
}

/** A value as it may stand in a message: quoted, shortened, control characters escaped. */
export const quoted = (value: string): string => JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);

/** The DER of an object identifier in dotted text. Throws `InvalidValue`. */
export function oidFor(text: string): Uint8Array {
  try {
    return oid(text);
  } catch {
    throw new InvalidValue(`invalid object identifier ${quoted(text)}`);
  }
}
