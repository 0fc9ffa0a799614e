/** Octet strings compared and written as hexadecimal text. */

export function sameOctets(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Lower-case. */
export const toHex = (octets: Uint8Array): string => Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('hex');

/** undefined unless the text is an even number of hexadecimal digits. */
export function fromHex(text: string): Uint8Array | undefined {
  return /^([0-9a-fA-F]{2})*$/.test(text) ? Uint8Array.from(Buffer.from(text, 'hex')) : undefined;
}

/** An unsigned big-endian number; at least one octet. */
export const toNumber = (octets: Uint8Array): bigint => BigInt(`0x${toHex(octets)}`);
