/** What is sealed of an event, of the head and of a report, and how. Whoever lacks the secret can neither make nor change one.
 *  Fields carry their length, so that no text can move from one to another; each kind begins with a word of its own. */
import { createHmacSha512 } from './hmac.ts';

/** An event as the database prints it. */
export interface EventRecord {
  readonly id: string;
  readonly code: string;
  readonly module: string;
  readonly node: string;
  readonly status: string;
  readonly at: number;
  /** As `detailsText` prints them. */
  readonly details: string;
}
export interface Head {
  readonly number: number;
  readonly seal: string;
}

export interface Seals {
  /** Shows that the service wrote a pending event. */
  pending(record: EventRecord): string;
  /** Chains event `number` to the seal of the one before it; the first to an empty text. */
  event(number: number, record: EventRecord, previous: string): string;
  head(head: Head): string;
  /** Takes whatever a report states. */
  report(statements: readonly (string | number)[]): string;
  /** The id of the event that tells of a pending event which is not ours: the same each time, and nobody else can know it. */
  noticeId(pendingId: string): string;
}

export function createSeals(secret: Uint8Array): Seals {
  const hmac = createHmacSha512(secret);
  return {
    pending: (record) => hmac(`pending ${text(record)}`),
    event: (number, record, previous) => hmac(`event ${number} ${text(record)}${previous}`),
    head: ({ number, seal }) => hmac(`head ${number} ${seal}`),
    report: (statements) => hmac(`report ${JSON.stringify(statements)}`),
    noticeId: (pendingId) => hmac(`notice ${pendingId}`).slice(0, 24),
  };
}

const field = (value: string): string => `${value.length}:${value}`;
const text = ({ id, code, module, node, status, at, details }: EventRecord): string =>
  `${field(id)}${field(code)}${field(module)}${field(node)}${field(status)}${at}:${field(details)}`;

type Details = Readonly<Record<string, string>>;

/** The one text that is sealed: shorter keys first, then by their characters, with a space after colon and comma. */
export function detailsText(details: Details): string {
  const keys = Object.keys(details).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return `{${keys.map((key) => `${JSON.stringify(key)}: ${JSON.stringify(details[key])}`).join(', ')}}`;
}

/** The record for which `test` holds, if its content is what was sealed. PostgreSQL happens to print details just as `detailsText` does, which saves
 *  reading them; that another version may not is why they are read and printed again before anything is called altered. */
export function fitting(record: EventRecord, test: (record: EventRecord) => boolean): EventRecord | undefined {
  if (test(record)) return record;
  const details: unknown = JSON.parse(record.details);
  if (!isDetails(details)) return undefined;
  const printed = { ...record, details: detailsText(details) };
  return printed.details !== record.details && test(printed) ? printed : undefined;
}

const isDetails = (value: unknown): value is Details =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every((inner) => typeof inner === 'string');
