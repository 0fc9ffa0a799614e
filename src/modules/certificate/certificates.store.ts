/** The table of certificates, and how a certificate becomes a row. */
import { defineTable } from '../../kernel/change.ts';
import type { Context } from '../../kernel/context.ts';
import { algorithmName } from '../../lib/x509/algorithm.ts';
import { isSelfIssued, parseCertificate, sha256Hex } from '../../lib/x509/certificate.ts';
import type { GeneralName, SanType } from '../../lib/x509/general-names.ts';
import { formatIp, parseIp } from '../../lib/x509/ip-address.ts';
import { formatDn } from '../../lib/x509/name.ts';
import { type ExtensionType, extensionTypes } from './profiles/elements.ts';

export const certificateTable = defineTable(
  'certificate',
  {
    id: 'text',
    revision: 'bigint',
    module: 'text',
    profile: 'text',
    owner: 'text',
    team: 'text',
    contact_email: 'text',
    der: 'bytea',
    thumbprint: 'text',
    public_key_thumbprint: 'text',
    dn: 'text',
    issuer: 'text',
    serial: 'text',
    not_before: 'bigint',
    not_after: 'bigint',
    key_type: 'text',
    signing_algorithm: 'text',
    self_signed: 'boolean',
    sans: 'text[]',
    subject_alternate_names: 'jsonb',
    extensions: 'jsonb',
    holder_id: 'text',
    labels: 'jsonb',
    metadata: 'jsonb',
    revocation_date: 'bigint',
    revocation_reason: 'text',
    escrowed: 'boolean',
    discovered_trusted: 'boolean',
    remove_at: 'bigint',
  },
  ['id'],
);

export interface CertificateRow {
  readonly id: string;
  readonly revision: number;
  readonly module: string;
  readonly profile: string | null;
  readonly owner: string | null;
  readonly team: string | null;
  readonly contact_email: string | null;
  readonly der: Uint8Array;
  /** SHA-256 over the certificate and over its SubjectPublicKeyInfo, lower-case hexadecimal. */
  readonly thumbprint: string;
  readonly public_key_thumbprint: string;
  readonly dn: string;
  readonly issuer: string;
  readonly serial: string;
  /** Epoch milliseconds. */
  readonly not_before: number;
  readonly not_after: number;
  readonly key_type: string;
  readonly signing_algorithm: string;
  readonly self_signed: boolean;
  /** Values alone, to be searched. */
  readonly sans: readonly string[];
  readonly subject_alternate_names: readonly { readonly sanType: SanType; readonly value: string }[];
  readonly extensions: readonly { readonly key: ExtensionType; readonly value: string }[];
  readonly holder_id: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly revocation_date: number | null;
  readonly revocation_reason: string | null;
  readonly escrowed: boolean;
  readonly discovered_trusted: boolean | null;
  readonly remove_at: number | null;
}

/** What a certificate does not say of itself. */
export interface CertificateFacts {
  readonly id: string;
  readonly module: string;
  readonly profile: string | null;
  readonly owner: string | null;
  readonly team: string | null;
  readonly contactEmail: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The row of a certificate that is neither revoked nor escrowed. Throws `DerError`, and `Error` for a key whose type has no name. */
export function certificateRow(der: Uint8Array, { contactEmail, ...facts }: CertificateFacts): CertificateRow {
  const parsed = parseCertificate(der);
  const { keyType } = parsed.publicKey;
  if (!keyType) throw new Error('the key of the certificate is of no known type');
  const dn = formatDn(parsed.subject);
  return {
    ...facts,
    revision: 1,
    contact_email: contactEmail,
    der,
    thumbprint: sha256Hex(der),
    public_key_thumbprint: sha256Hex(parsed.spki),
    dn,
    issuer: formatDn(parsed.issuer),
    serial: parsed.serial,
    not_before: parsed.notBefore,
    not_after: parsed.notAfter,
    key_type: keyType,
    signing_algorithm: algorithmName(parsed.algorithmDer),
    self_signed: isSelfIssued(parsed),
    sans: parsed.sans.map(({ value }) => value),
    subject_alternate_names: parsed.sans.map(({ type, value }) => ({ sanType: type, value })),
    extensions: extensionTypes.flatMap((key) => (parsed.extensions[key] === undefined ? [] : [{ key, value: parsed.extensions[key] }])),
    holder_id: holderId(dn, parsed.sans),
    revocation_date: null,
    revocation_reason: null,
    escrowed: false,
    discovered_trusted: null,
    remove_at: null,
  };
}

/** Who holds a certificate: whatever has the same DN and the same SANs, in any order and spelling. */
export const holderId = (dn: string, sans: readonly GeneralName[]): string =>
  sha256Hex(Buffer.from(JSON.stringify([dn, ...sans.map(canonical).sort()])));

/** Addresses and GUIDs can be spelt in several ways; a certificate shows one. */
function canonical({ type, value }: GeneralName): string {
  const address = type === 'IPADDRESS' ? parseIp(value) : undefined;
  const text = address ? formatIp(address) : type === 'OTHERNAME_GUID' ? value.toLowerCase() : value;
  return `${type}:${text}`;
}

const columns = Object.keys(certificateTable.columns).join(', ');

export async function findCertificate(id: string, { database }: Pick<Context, 'database'>): Promise<CertificateRow | undefined> {
  const text = `select ${columns} from certificate where id = $1`;
  const [row] = await database.rows<CertificateRow>({ name: 'certificate-get', text, values: [id] });
  return row;
}

export async function findCertificateByDer(der: Uint8Array, { database }: Pick<Context, 'database'>): Promise<CertificateRow | undefined> {
  const text = `select ${columns} from certificate where thumbprint = $1`;
  const [row] = await database.rows<CertificateRow>({ name: 'certificate-get-by-thumbprint', text, values: [sha256Hex(der)] });
  return row;
}

export const findCertificates = (ids: readonly string[], { database }: Pick<Context, 'database'>): Promise<CertificateRow[]> =>
  database.rows({ name: 'certificate-list', text: `select ${columns} from certificate where id = any($1)`, values: [ids] });
