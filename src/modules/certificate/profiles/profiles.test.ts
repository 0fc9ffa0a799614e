import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { benchWith, collectionContract, writeGiven } from '../../../../test/conformance/collection.ts';
import { principalWith } from '../../../../test/support/context.ts';
import { defineTable, insert } from '../../../kernel/change.ts';
import type { Permission } from '../../../kernel/principal.ts';
import { webraGiven, webraSample } from './fixtures/webra.ts';
import { profiles } from './profiles.ts';
import { requestLifeMs, type WebraProfile } from './webra.ts';

const { certificateTemplate: template, cryptoPolicy, authorizationLevels: levels } = webraSample;
const withTemplate = (part: object) => ({ ...webraSample, certificateTemplate: { ...template, ...part } });
const cn = { type: 'CN', mandatory: true, editableByRequester: true };
const searchedThrough = (type: string, name: string) => ({
  ...webraSample,
  authorizationLevels: { ...levels, search: { accessLevel: 'authorized', enforcedIdentityProviders: [{ type, name }] } },
});

const notYet: readonly object[] = [
  { authorizationMode: 'auto-validation' },
  { csrDataMapping: { a: 'b' } },
  { maxCertificatePerHolderPolicy: { max: 1, behavior: 'reject' } },
  { triggers: { onEnroll: ['mail'] } },
  { renewalPeriod: '30 days' },
  { gradingPolicies: ['strict'] },
  { validationRuleset: { rules: ['{{k}} exists'], threshold: 1 } },
  { dsFlow: [{ ds: 'ldap' }] },
  { thirdPartyDiscoverySync: true },
  { autoRenewalPolicy: { default: true, editable: false } },
  { termsOfService: 'tos' },
  { selfPermissions: { selfRevoke: true } },
  { cryptoPolicy: { ...cryptoPolicy, centralized: true } },
  { cryptoPolicy: { ...cryptoPolicy, escrow: true } },
  { cryptoPolicy: { ...cryptoPolicy, p12passwordMode: 'manual' } },
  { cryptoPolicy: { ...cryptoPolicy, keyAvailability: '1 day' } },
  { cryptoPolicy: { ...cryptoPolicy, preferredEnrollmentMode: 'centralized' } },
  { cryptoPolicy: { ...cryptoPolicy, authorizedKeyTypes: ['rsa-2048+mldsa-44'] } },
];
const notYetInTemplate: readonly object[] = [
  { subject: [{ ...cn, computationRule: '{{k}}' }] },
  { ownerPolicy: { mandatory: false, editableByRequester: false, editableByApprover: false, computationRule: '{{k}}' } },
  { teamPolicy: { mandatory: false, editableByRequester: true, editableByApprover: false } },
  { metadataPolicies: [{ metadata: 'pki_connector', editableByRequester: true, editableByApprover: false }] },
];
const unusable: readonly object[] = [
  { subject: [] },
  { subject: [{ ...cn, mandatory: false }] },
  { subject: [cn, { type: 'O', mandatory: true }] },
  { subject: [{ ...cn, type: 'X' }] },
  { subject: [{ ...cn, regex: '(?=a)' }] },
  { sans: [{ type: 'DNSNAME', min: 1 }] },
  { sans: [{ type: 'DNSNAME', min: 2, max: 1, editableByRequester: true }] },
  { sans: [{ type: 'DNSNAME' }, { type: 'DNSNAME' }] },
  { labels: [{ label: 'unknown' }] },
  { labels: [{ label: 'site', enum: ['a'], regex: 'a' }] },
  { contactEmailPolicy: { mandatory: true } },
];

collectionContract(profiles, {
  valid: webraSample,
  given: webraGiven,
  invalid: [
    {},
    { ...webraSample, name: 'a b' },
    { ...webraSample, module: 'est' },
    { ...webraSample, pkiConnector: 'unknown' },
    { ...webraSample, requestsPolicy: { enroll: '2 weeks' } },
    { ...webraSample, cryptoPolicy: { defaultKeyType: 'rsa-1024' } },
    searchedThrough('Local', 'unknown'),
    searchedThrough('OpenId', 'local'),
    ...notYet.map((part) => ({ ...webraSample, ...part })),
    ...[...notYetInTemplate, ...unusable].map(withTemplate),
  ],
});

const admin = principalWith(['configuration:*']);
const named = (verb: string) => profiles.operations.find(({ id }) => id === `certificate.profile.${verb}`)!;
const requestTable = defineTable(
  'request',
  {
    id: 'text',
    revision: 'bigint',
    module: 'text',
    workflow: 'text',
    status: 'text',
    profile: 'text',
    profile_revision: 'bigint',
    registration_date: 'bigint',
    last_modification_date: 'bigint',
    expiration_date: 'bigint',
    remove_at: 'bigint',
    labels: 'jsonb',
    metadata: 'jsonb',
    template: 'jsonb',
  },
  ['id'],
);

describe('profiles', () => {
  const bench = benchWith([
    ...webraGiven,
    ['certificate.profile', 'web', webraSample],
    ['certificate.profile', 'other', { ...webraSample, name: 'other' }],
  ]);

  it('says by its path what is not available', async () => {
    const detailOf = async (part: object) => {
      const { body } = await bench.perform(named('update'), { body: withTemplate(part) }, admin);
      return (body as { detail: string }).detail;
    };
    const places = ['subject.0.computationRule', 'ownerPolicy.computationRule', 'teamPolicy', 'metadataPolicies'];
    for (const [at, place] of places.entries()) {
      assert.equal(await detailOf(notYetInTemplate[at]!), `'certificateTemplate.${place}' is not available yet`);
    }
  });

  it('lists by module', async () => {
    const listed = async (modules?: string | string[]) =>
      bench.perform(named('list'), { query: modules === undefined ? {} : { modules } }, admin);
    assert.equal(((await listed()).body as unknown[]).length, 2);
    assert.equal(((await listed(['est', 'webra'])).body as unknown[]).length, 2);
    assert.equal((await listed('est')).status, 204);
    const refused = await listed('nothing');
    assert.deepEqual([refused.status, (refused.body as { error: string }).error], [400, 'CERT-PROFILE-005']);
  });

  it('takes permissions that name it and its requests with it, and nothing of another profile', async () => {
    const value = (...values: string[]) => ({ permissions: values.map((text) => ({ value: text })) });
    await writeGiven(bench, [
      ['security.role', 'issuers', { name: 'issuers', ...value('lifecycle:webra:web:enroll', 'lifecycle:webra:other:enroll') }],
      ['security.principalinfo', 'eve', { identifier: 'eve', ...value('lifecycle:*:WEB') }],
      ['security.role', 'all', { name: 'all', ...value('lifecycle:*') }],
    ]);
    for (const [id, profile] of [
      ['a', 'web'],
      ['b', 'other'],
    ] as const)
      await bench.commit([insert(requestTable, request(id, profile, 'pending'))]);
    assert.deepEqual(await bench.perform(named('delete'), { params: { name: 'web' } }, admin), { status: 204 });
    const { configuration } = await bench.as(admin);
    const left = async (tag: string, key: string) =>
      (await configuration.get<{ permissions: Permission[] }>(tag, key))!.body.permissions.map((permission) => permission.value);
    assert.deepEqual(await left('security.role', 'issuers'), ['lifecycle:webra:other:enroll']);
    assert.deepEqual(await left('security.role', 'all'), ['lifecycle:*']);
    assert.deepEqual(await left('security.principalinfo', 'eve'), []);
    assert.deepEqual(await bench.database.rows({ text: 'select id from request' }), [{ id: 'b' }]);
  });

  it('stays while a request is being carried out', async () => {
    await bench.database.rows({ text: 'delete from request' });
    await bench.commit([insert(requestTable, request('c', 'web', 'approved'))]);
    const { status, body } = await bench.perform(named('delete'), { params: { name: 'web' } }, admin);
    assert.deepEqual([status, (body as { error: string }).error], [403, 'CERT-PROFILE-006']);
  });

  it('gives requests seven days unless it says otherwise', () => {
    assert.equal(requestLifeMs(webraSample as WebraProfile, 'enroll'), 3 * 86_400_000);
    assert.equal(requestLifeMs(webraSample as WebraProfile, 'revoke'), 7 * 86_400_000);
  });
});

const request = (id: string, profile: string, status: string) => ({
  id,
  revision: 1,
  module: 'webra',
  workflow: 'enroll',
  status,
  profile,
  profile_revision: 1,
  registration_date: 0,
  last_modification_date: 0,
  expiration_date: 0,
  remove_at: 0,
  labels: {},
  metadata: {},
  template: {},
});
