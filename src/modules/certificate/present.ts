/** Certificates as callers see them. One table of API names serves the whole certificate, search results and the columns that a search reads. */
import type { Principal } from '../../kernel/principal.ts';
import { encodePem } from '../../lib/x509/pem.ts';
import type { CertificateRow } from './certificates.store.ts';
import type { Right } from './profiles/levels.ts';
import { holds } from './profiles/rights.ts';
import type { WebraProfile } from './profiles/webra.ts';
import { owns } from './visibility.ts';

type Column = keyof CertificateRow;
interface Property {
  readonly column: Column;
  show(row: CertificateRow): unknown;
}
const property = <C extends Column>(column: C, shown: (value: CertificateRow[C]) => unknown = (value) => value): Property => ({
  column,
  show: (row) => shown(row[column]),
});
const pairs = (values: Readonly<Record<string, string>>) => Object.entries(values).map(([key, value]) => ({ key, value }));

const properties: Readonly<Record<string, Property>> = {
  _id: property('id'),
  module: property('module'),
  profile: property('profile'),
  owner: property('owner'),
  team: property('team'),
  contactEmail: property('contact_email'),
  certificate: property('der', (der) => encodePem('CERTIFICATE', der)),
  thumbprint: property('thumbprint'),
  publicKeyThumbprint: property('public_key_thumbprint'),
  dn: property('dn'),
  serial: property('serial'),
  issuer: property('issuer'),
  notBefore: property('not_before'),
  notAfter: property('not_after'),
  keyType: property('key_type'),
  signingAlgorithm: property('signing_algorithm'),
  selfSigned: property('self_signed'),
  subjectAlternateNames: property('subject_alternate_names'),
  holderId: property('holder_id'),
  labels: property('labels', pairs),
  metadata: property('metadata', pairs),
  revocationDate: property('revocation_date'),
  revocationReason: property('revocation_reason'),
  discoveredTrusted: property('discovered_trusted'),
  escrowed: property('escrowed'),
  removeAt: property('remove_at'),
  revoked: property('revocation_date', (date) => date !== null),
  extensions: property('extensions'),
};

/** Null says that there is no value: the key is left out. */
const show = (row: CertificateRow, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, properties[name]!.show(row)]).filter(([, value]) => value !== null));

const onlyInSearches = ['removeAt'];
const wholeCertificate = Object.keys(properties).filter((name) => !onlyInSearches.includes(name));

/** `CertificateResponse`. */
export const presentCertificate = (row: CertificateRow) => ({ profile: null, ...show(row, wholeCertificate) });

// Search results

/** Known to searches, and never with a value: what would fill them is not built. */
const empty = /^(discoveryInfo|discoveryData|thirdPartyData|triggerResults|grades|autoRenew|(grade|discoverydata|team\.displayname)\..+)$/;
const onlyInWhole = ['revoked', 'extensions'];
const onlyWhenNamed = ['escrowed', 'removeAt'];
const member = /^(label|metadata)\.(.+)$/;
const families: Readonly<Record<string, string>> = { label: 'labels', metadata: 'metadata' };

export interface Fields {
  readonly names: readonly string[];
  /** Of a property that is not asked for as a whole, the members that are. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
  readonly columns: readonly Column[];
}

/** A name that no field has. */
export class FieldError extends Error {
  constructor(name: string) {
    super(`there is no field '${name}'`);
    this.name = 'FieldError';
  }
}

/** What a search answers of each certificate: without `fields` everything, always the `_id`. Throws `FieldError`. */
export function chooseFields(fields?: readonly string[]): Fields {
  const known = Object.keys(properties).filter((name) => !onlyInWhole.includes(name));
  const asked = fields ?? known.filter((name) => !onlyWhenNamed.includes(name));
  const names = new Set(['_id']);
  const members = new Map<string, Set<string>>();
  for (const field of asked) {
    const [, family, key] = member.exec(field) ?? [];
    if (known.includes(field)) names.add(field);
    else if (family !== undefined && key !== undefined)
      members.set(families[family]!, (members.get(families[family]!) ?? new Set()).add(key));
    else if (!empty.test(field)) throw new FieldError(field);
  }
  for (const name of members.keys()) if (names.has(name)) members.delete(name);
  const all = [...names, ...members.keys()];
  return { names: all, members, columns: [...new Set(all.map((name) => properties[name]!.column))] };
}

/** `CertificateSearchResult`; the row needs no more than the columns of its fields. */
export function presentSearchResult(row: CertificateRow, { names, members }: Fields): Record<string, unknown> {
  const shown = show(row, names);
  for (const [name, wanted] of members) shown[name] = (shown[name] as ReturnType<typeof pairs>).filter(({ key }) => wanted.has(key));
  return shown;
}

// Permissions

const rights = {
  enroll: ['enroll', 'enrollApi'],
  requestEnroll: ['requestEnroll'],
  revoke: ['revoke'],
  requestRevoke: ['requestRevoke'],
  update: ['update'],
  requestUpdate: ['requestUpdate'],
  recover: ['recover', 'recoverApi'],
  requestRecover: ['requestRecover'],
  migrate: ['migrate'],
  requestMigrate: ['requestMigrate'],
  renew: ['renew', 'renewApi'],
  requestRenew: ['requestRenew'],
} as const satisfies Record<string, readonly Right[]>;
/** Owners may always ask for these (semantics 3.6). */
const ofOwners: readonly string[] = ['requestRevoke', 'requestUpdate', 'requestRecover', 'requestRenew'];

/** `CertificatePermissions`: what the caller may do with the certificate. Without its profile nobody may do anything. */
export function permissionsOn(
  row: Pick<CertificateRow, 'profile' | 'owner' | 'team'>,
  profile: WebraProfile | undefined,
  principal: Principal,
) {
  const own = owns({ owner: principal.identifier, teams: principal.teams }, row);
  const may = ([name, needed]: readonly [string, readonly Right[]]) =>
    profile !== undefined && ((own && ofOwners.includes(name)) || needed.some((right) => holds(principal, profile, right)));
  return Object.fromEntries(Object.entries(rights).map((right) => [right[0], may(right)]));
}
