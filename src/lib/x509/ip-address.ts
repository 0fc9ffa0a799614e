/** IP addresses between their text and their octets. Text comes out as RFC 5952 has it. */

const BYTE = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${BYTE}\\.${BYTE}\\.${BYTE}\\.${BYTE}$`);

/** 4 or 16 octets; undefined for text that is no address (zones and prefixes are none). */
export function parseIp(text: string): Uint8Array | undefined {
  const v4 = IPV4.exec(text);
  if (v4 !== null) return Uint8Array.from(v4.slice(1), Number);
  if (text.length > 45) return undefined;
  const tail = text.slice(text.lastIndexOf(':') + 1);
  const embedded = tail.includes('.') ? IPV4.exec(tail) : undefined;
  if (embedded === null) return undefined;
  const hex = embedded === undefined ? text : text.slice(0, -tail.length) + groupsOf(Uint8Array.from(embedded.slice(1), Number)).join(':');
  const [left = '', right, ...more] = hex.split('::');
  if (more.length > 0) return undefined;
  const before = left === '' ? [] : left.split(':');
  const after = right === undefined || right === '' ? [] : right.split(':');
  const missing = 8 - before.length - after.length;
  if (right === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...new Array<string>(missing).fill('0'), ...after];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return Uint8Array.from(groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]));
}

/** Canonical text of 4 or 16 octets; undefined for another number. */
export function formatIp(octets: Uint8Array): string | undefined {
  if (octets.length === 4) return octets.join('.');
  if (octets.length !== 16) return undefined;
  const groups = groupsOf(octets);
  const text = groups.join(':');
  if (text.startsWith('0:0:0:0:0:ffff:')) return `::ffff:${octets.subarray(12).join('.')}`;
  const runs = [...text.matchAll(/(?<![0-9a-f])0(:0)+(?![0-9a-f])/g)];
  if (runs.length === 0) return text;
  const longest = runs.reduce((best, run) => (run[0].length > best[0].length ? run : best));
  return `${text.slice(0, longest.index).replace(/:$/, '')}::${text.slice(longest.index + longest[0].length).replace(/^:/, '')}`;
}

function groupsOf(octets: Uint8Array): readonly string[] {
  const groups: string[] = [];
  for (let i = 0; i < octets.length; i += 2) groups.push(((octets[i]! << 8) | octets[i + 1]!).toString(16));
  return groups;
}
