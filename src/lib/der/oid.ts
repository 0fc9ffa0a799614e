/** OBJECT IDENTIFIER contents, both ways (X.690 §8.19), with small caches: the same few dozen return all the time. */

const SUBIDENTIFIER_OCTETS_MAX = 20;
const OCTETS_MAX = 128;
const CACHE_SLOTS = 1024;
const CACHED_OCTETS_MAX = 32;
const ENCODED_MAX = 1024;

interface Decoded {
  readonly octets: Uint8Array;
  readonly text: string;
}

/** One slot for each hash, replaced on collision: bounded whatever callers send. */
const decoded: (Decoded | undefined)[] = new Array<Decoded | undefined>(CACHE_SLOTS).fill(undefined);
const encoded = new Map<string, Uint8Array>();

/** The dotted text of the contents in `bytes[start…end]`; undefined when they are none. */
export function decodeOid(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start > CACHED_OCTETS_MAX) return decodeArcs(bytes, start, end);
  let hash = 0;
  for (let i = start; i < end; i++) hash = (hash * 31 + bytes[i]!) | 0;
  const slot = hash & (CACHE_SLOTS - 1);
  const known = decoded[slot];
  if (known !== undefined && sameOctets(known.octets, bytes, start, end)) return known.text;
  const text = decodeArcs(bytes, start, end);
  if (text !== undefined) decoded[slot] = { octets: bytes.slice(start, end), text };
  return text;
}

/** The contents for dotted text; undefined when it is no object identifier. Not to be written to. */
export function encodeOid(text: string): Uint8Array | undefined {
  const known = encoded.get(text);
  if (known !== undefined) return known;
  const octets = encodeArcs(text);
  if (octets !== undefined && octets.length <= CACHED_OCTETS_MAX && encoded.size < ENCODED_MAX) encoded.set(text, octets);
  return octets;
}

function sameOctets(octets: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (octets.length !== end - start) return false;
  for (let i = 0; i < octets.length; i++) if (octets[i] !== bytes[start + i]) return false;
  return true;
}

function decodeArcs(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (start === end || end - start > OCTETS_MAX || bytes[end - 1]! >= 0x80) return undefined;
  const arcs: string[] = [];
  for (let offset = start; offset < end; ) {
    const first = offset;
    if (bytes[first] === 0x80) return undefined;
    while (bytes[offset]! >= 0x80) offset++;
    offset++;
    if (offset - first > SUBIDENTIFIER_OCTETS_MAX) return undefined;
    const arc = decodeArc(bytes, first, offset);
    if (first > start) arcs.push(arc.toString());
    else if (arc < 40) arcs.push('0', arc.toString());
    else if (arc < 80) arcs.push('1', (Number(arc) - 40).toString());
    else arcs.push('2', (typeof arc === 'bigint' ? arc - 80n : arc - 80).toString());
  }
  return arcs.join('.');
}

function decodeArc(bytes: Uint8Array, start: number, end: number): number | bigint {
  if (end - start <= 7) {
    let value = 0;
    for (let i = start; i < end; i++) value = value * 128 + (bytes[i]! & 0x7f);
    return value;
  }
  let value = 0n;
  for (let i = start; i < end; i++) value = (value << 7n) | BigInt(bytes[i]! & 0x7f);
  return value;
}

function encodeArcs(text: string): Uint8Array | undefined {
  if (text.length > 1024 || !/^[0-2](\.(0|[1-9]\d{0,42}))+$/.test(text)) return undefined;
  const [root, second, ...rest] = text.split('.').map(BigInt) as [bigint, bigint, ...bigint[]];
  if (root < 2n && second >= 40n) return undefined;
  const octets: number[] = [];
  for (const arc of [root * 40n + second, ...rest]) {
    const reversed: number[] = [];
    for (let value = arc; reversed.length === 0 || value > 0n; value >>= 7n)
      reversed.push(Number(value & 0x7fn) | (reversed.length && 0x80));
    if (reversed.length > SUBIDENTIFIER_OCTETS_MAX) return undefined;
    for (const octet of reversed.reverse()) octets.push(octet);
  }
  return octets.length > OCTETS_MAX ? undefined : Uint8Array.from(octets);
}
