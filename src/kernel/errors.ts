/** Errors with stable codes. A family is a table; throwing is calling an entry of it. */

export interface ErrorKind {
  /** Wire code, `CERT-LABEL-003`. */
  readonly code: string;
  readonly status: number;
  /** The fixed words of `message` and `title`. */
  readonly title: string;
}

/** What the caller did or asked cannot be: shown as a problem. `detail` is shown too; the cause only reaches the log. */
export class ServiceError extends Error {
  readonly kind: ErrorKind;
  readonly detail: string | undefined;
  constructor(kind: ErrorKind, detail?: string, options?: ErrorOptions) {
    super(detail === undefined ? `${kind.code} ${kind.title}` : `${kind.code} ${kind.title}: ${detail}`, options);
    this.kind = kind;
    this.detail = detail;
  }
}

export interface Thrower extends ErrorKind {
  (detail?: string, options?: ErrorOptions): ServiceError;
  /** The same error where an operation gives it another status. */
  at(status: number): Thrower;
}

type Row = readonly [number: string, status: number, title: string];

/** Every error that exists, in the order of definition: `api/errors.md` is made from it. */
export const definedErrors: ErrorKind[] = [];

function thrower(code: string, status: number, title: string): Thrower {
  const kind: ErrorKind = { code, status, title };
  const make = (detail?: string, options?: ErrorOptions) => new ServiceError(kind, detail, options);
  return Object.assign(make, kind, { at: (other: number) => thrower(code, other, title) });
}

export function defineErrors<const T extends Record<string, Row>>(family: string, table: T): { readonly [K in keyof T]: Thrower } {
  const entries = Object.entries(table).map(([name, [number, status, title]]) => {
    const kind = thrower(`${family}-${number}`, status, title);
    definedErrors.push({ code: kind.code, status, title });
    return [name, kind] as const;
  });
  return Object.fromEntries(entries) as { readonly [K in keyof T]: Thrower };
}

export interface CollectionErrors {
  readonly internal: Thrower;
  readonly invalid: Thrower;
  readonly notFound: Thrower;
  readonly exists: Thrower;
  /** Absent where the family has no such code: a deletion is then refused with `invalid`. */
  readonly referenced?: Thrower;
}

interface CollectionErrorOptions {
  /** Status of the "referenced" code; without it the family has none. */
  readonly referenced?: 400 | 403;
  readonly referencedNumber?: string;
  /** The words of 001: the families spell them in two ways. */
  readonly internal?: 'Unexpected error' | 'Unexpected Error';
  /** `Label already exists`: where the words are not made of the noun. */
  readonly exists?: string;
}

/** The usual five of a collection: 001 unexpected, 002 invalid, 003 not found, 004 exists, 005 referenced. */
export function collectionErrors(family: string, noun: string, options: CollectionErrorOptions = {}): CollectionErrors {
  return defineErrors(family, {
    internal: ['001', 500, options.internal ?? 'Unexpected error'],
    invalid: ['002', 400, `Invalid ${noun}`],
    notFound: ['003', 404, `${noun} not found`],
    exists: ['004', 400, options.exists ?? `${noun} already exists`],
    ...(options.referenced ? { referenced: [options.referencedNumber ?? '005', options.referenced, `Referenced ${noun}`] as const } : {}),
  });
}

/** Errors that any operation may answer; they belong to the frame, not to a module. */
export const authErrors = defineErrors('SEC-AUTH', {
  unexpected: ['001', 500, 'Unexpected Error'],
  credentials: ['002', 401, 'Invalid credentials or principal does not exist'],
  untrusted: ['003', 401, 'Certificate is not trusted'],
  expiredCertificate: ['004', 401, 'Certificate is expired'],
  revokedCertificate: ['005', 401, 'Certificate is revoked'],
  nobody: ['006', 401, 'Principal not authenticated'],
  provider: ['007', 401, 'Invalid Identity Provider'],
  redirect: ['008', 401, 'Invalid redirect path'],
  expired: ['009', 401, 'Principal not authenticated or authentication expired'],
  token: ['010', 400, 'Invalid Jwt Token'],
});
export const permissionErrors = defineErrors('SEC-PERM', {
  denied: ['001', 403, 'Insufficient privileges'],
  self: ['008', 403, 'Self deletion is not authorized'],
});
export const licenseErrors = defineErrors('LIC', {
  unexpected: ['001', 500, 'Unexpected error'],
  invalid: ['002', 403, 'Invalid License'],
  holders: ['003', 403, 'Maximum number of holders reached'],
  expired: ['004', 403, 'Expired License'],
});
export const routeErrors = defineErrors('ROUTE', {
  unknown: ['001', 404, 'Unknown path'],
  method: ['002', 405, 'Method not allowed'],
  tooLarge: ['003', 413, 'Body too large'],
  contentType: ['004', 415, 'Unsupported content type'],
  tooMany: ['005', 429, 'Too many requests'],
  unavailable: ['006', 503, 'Not available now'],
});
/** A query (hcql, hrql, heql, hdql) that cannot be read; `detail` says where and what was expected. */
export const queryErrors = defineErrors('HQL', { invalid: ['001', 400, 'Invalid HQL query'] });

/** The code of an error that tells of the database's absence: an outage, not a bug. */
export const outageCode = 'database-unavailable';
export const isOutage = (error: unknown): boolean => (error as { code?: unknown }).code === outageCode;
