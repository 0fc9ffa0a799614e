/** Columns of values as parameters: PostgreSQL's binary form of an array, which neither side has to print or parse. */
import type { ColumnType } from '../kernel/change.ts';

interface Encoding {
  /** What the elements of the parameter are, and what they become in the statement. */
  readonly sent: 'text' | 'int8' | 'bool' | 'bytea';
  readonly oid: number;
  readonly cast?: 'jsonb' | 'text[]';
  /** Octets or text as they are sent; or numbers of a fixed size. */
  readonly form?: (value: never) => string;
  readonly size?: 1 | 8;
}

/** An array inside an array would be one of two dimensions, so it goes as its text. */
const arrayText = (items: readonly string[]): string => `{${items.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

const encodings: Readonly<Record<ColumnType, Encoding>> = {
  text: { sent: 'text', oid: 25 },
  bigint: { sent: 'int8', oid: 20, size: 8 },
  boolean: { sent: 'bool', oid: 16, size: 1 },
  bytea: { sent: 'bytea', oid: 17 },
  jsonb: { sent: 'text', oid: 25, cast: 'jsonb', form: (value: unknown) => JSON.stringify(value) },
  'text[]': { sent: 'text', oid: 25, cast: 'text[]', form: arrayText },
};

/** `$1::text[]`, to be unnested. */
export const parameterText = (type: ColumnType, position: number): string => `$${position}::${encodings[type].sent}[]`;
/** An unnested value as the column takes it. */
export const valueText = (type: ColumnType, name: string): string => (encodings[type].cast ? `${name}::${encodings[type].cast}` : name);

const headBytes = 20;

/** One dimension from 1; null and undefined are NULL. */
export function encodeColumn(type: ColumnType, values: readonly unknown[]): Buffer {
  const { oid, form, size } = encodings[type];
  const items = form ? values.map((value) => (isNull(value) ? value : form(value as never))) : values;
  let length = headBytes;
  let nulls = 0;
  for (const item of items) {
    length += 4 + sizeOf(item, size);
    if (isNull(item)) nulls = 1;
  }
  const bytes = Buffer.allocUnsafe(length);
  let offset = 0;
  for (const word of [1, nulls, oid, items.length, 1]) offset = bytes.writeInt32BE(word, offset);
  for (const item of items) offset = writeItem(bytes, item, size, offset);
  return bytes;
}

const isNull = (item: unknown): boolean => item === null || item === undefined;

function sizeOf(item: unknown, fixed: number | undefined): number {
  if (isNull(item)) return 0;
  return fixed ?? (typeof item === 'string' ? Buffer.byteLength(item) : (item as Uint8Array).length);
}

/** Its length, or −1 for NULL, then its octets; answers the offset behind them. */
function writeItem(bytes: Buffer, item: unknown, fixed: number | undefined, start: number): number {
  if (isNull(item)) return bytes.writeInt32BE(-1, start);
  if (fixed !== undefined) return writeNumber(bytes, Number(item), fixed, bytes.writeInt32BE(fixed, start));
  const octets = start + 4;
  if (typeof item === 'string') {
    const written = bytes.write(item, octets);
    bytes.writeInt32BE(written, start);
    return octets + written;
  }
  bytes.set(item as Uint8Array, octets);
  bytes.writeInt32BE((item as Uint8Array).length, start);
  return octets + (item as Uint8Array).length;
}

function writeNumber(bytes: Buffer, value: number, size: number, offset: number): number {
  if (size === 1) return bytes.writeInt8(value, offset);
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number: ${value}`);
  const low = ((value % 2 ** 32) + 2 ** 32) % 2 ** 32;
  return bytes.writeUInt32BE(low, bytes.writeInt32BE((value - low) / 2 ** 32, offset));
}
