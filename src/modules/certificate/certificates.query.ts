/** What can be asked of certificates (semantics 1.3), and where it stands. Grades, discovery and third-party data have no columns yet. */
import type { Dictionary } from '../../kernel/search.ts';
import { metadataKeys } from './profiles/elements.ts';

const nothing = 'id not exists';
const postQuantum = '["^mldsa-", "^slhdsa-"]';
const classical = '["^rsa-", "^ec-", "^ed-"]';

export const certificateDictionary: Dictionary = {
  fields: {
    id: { kind: 'id', column: 'id', sortName: '_id' },
    dn: { kind: 'string', column: 'dn', sortName: 'dn' },
    san: { kind: 'string', column: 'sans', multi: true },
    issuer: { kind: 'string', column: 'issuer', sortName: 'issuer' },
    serial: { kind: 'string', column: 'serial', sortName: 'serial' },
    thumbprint: { kind: 'string', column: 'thumbprint', sortName: 'thumbprint' },
    publickeythumbprint: { kind: 'string', column: 'public_key_thumbprint', sortName: 'publicKeyThumbprint' },
    profile: { kind: 'string', column: 'profile', sortName: 'profile' },
    module: { kind: 'string', column: 'module', sortName: 'module' },
    owner: { kind: 'string', column: 'owner', sortName: 'owner' },
    team: { kind: 'string', column: 'team', sortName: 'team' },
    holderid: { kind: 'string', column: 'holder_id', sortName: 'holderId' },
    contactemail: { kind: 'string', column: 'contact_email', sortName: 'contactEmail' },
    keytype: { kind: 'string', column: 'key_type', sortName: 'keyType' },
    primarykeytype: { kind: 'string', column: 'primary_key_type' },
    alternatekeytype: { kind: 'string', column: 'alternate_key_type' },
    signingalgorithm: { kind: 'string', column: 'signing_algorithm', sortName: 'signingAlgorithm' },
    'valid.from': { kind: 'date', column: 'not_before', sortName: 'notBefore' },
    'valid.until': { kind: 'date', column: 'not_after', sortName: 'notAfter' },
    'revocation.date': { kind: 'date', column: 'revocation_date', sortName: 'revocationDate' },
    'revocation.reason': { kind: 'string', column: 'revocation_reason', sortName: 'revocationReason' },
    'purge.date': { kind: 'date', column: 'remove_at', sortName: 'removeAt' },
  },
  families: {
    label: { kind: 'string', column: 'labels', keys: /^[0-9a-zA-Z_-]{1,255}$/ },
    metadata: { kind: 'string', column: 'metadata', keys: [...metadataKeys, 'contact_email', 'eviden_idca_id', 'nameshield_id'] },
  },
  specials: {
    /** A partition: what is past its end is expired, whether it was revoked or not. */
    status: {
      verb: 'is',
      values: {
        valid: 'valid.until after now and revocation.date not exists',
        revoked: 'valid.until after now and revocation.date exists',
        expired: 'valid.until before now',
      },
    },
    certificate: {
      verb: 'is',
      values: {
        archived: nothing,
        discovered: nothing,
        escrowed: { column: 'escrowed', equals: true },
        trusted: { column: 'discovered_trusted', equals: true },
        selfsigned: { column: 'self_signed', equals: true },
      },
    },
    certificatetype: {
      verb: 'is',
      values: {
        hybrid: 'alternatekeytype exists',
        legacy: `alternatekeytype not exists and keytype within ${classical}`,
        pqc: `alternatekeytype not exists and keytype within ${postQuantum}`,
        unknown: `alternatekeytype not exists and keytype not within ${classical} and keytype not within ${postQuantum}`,
      },
    },
  },
  sorts: { discoveredTrusted: 'discovered_trusted', selfSigned: 'self_signed', escrowed: 'escrowed' },
};
