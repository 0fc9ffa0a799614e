import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { writeGiven } from '../../../test/conformance/collection.ts';
import { type Bench, openBench, principalWith } from '../../../test/support/context.ts';
import type { Reply } from '../../kernel/action.ts';
import { insert, update } from '../../kernel/change.ts';
import { nobody, type Principal } from '../../kernel/principal.ts';
import { encodePem } from '../../lib/x509/pem.ts';
import { certificateDictionary } from './certificates.query.ts';
import { type CertificateFacts, certificateRow, certificateTable, holderId } from './certificates.store.ts';
import { certificateOperations } from './certificates.ts';
import { unsignedCertificate } from './fixtures/certificate.ts';
import { webraSample } from './profiles/fixtures/webra.ts';
import { certificateResponse, certificateSearchResults, certificateWithPermissions } from './schemas.ts';

const day = 86_400_000;
const start = Date.UTC(2030, 0, 1);
const idOf = (serial: number) => String(serial).padStart(24, '0');

function rowOf(serial: number, name: string, facts: Partial<CertificateFacts> = {}, validity = [start - day, start + 30 * day] as const) {
  const [notBefore, notAfter] = validity;
  const defaults = {
    id: idOf(serial),
    module: 'webra',
    profile: 'web',
    owner: null,
    team: null,
    contactEmail: null,
    labels: {},
    metadata: {},
  };
  return certificateRow(unsignedCertificate({ serial, name, notBefore, notAfter }), { ...defaults, ...facts });
}

const rows = [
  rowOf(1, 'a.example', { owner: 'bob', labels: { site: 'north' }, metadata: { pki_connector: 'lab' } }),
  rowOf(2, 'b.example', { profile: 'other', owner: 'ada', contactEmail: 'ada@example' }),
  rowOf(3, 'c.example', { labels: { site: 'south', tier: 'gold' } }, [start - 9 * day, start - day]),
  rowOf(4, 'd.example', { profile: 'other', team: 'blue' }),
  rowOf(5, 'e.example', { profile: null }),
];

const searcher = principalWith(['lifecycle:webra:web:search', 'lifecycle:webra:web:revoke'], 'sam');
const everywhere = principalWith(['lifecycle:*'], 'root');
const ada = principalWith([], 'ada');
const blue: Principal = { ...principalWith([], 'cy'), teams: ['blue'] };

describe('certificates', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
    await writeGiven(bench, [
      ['certificate.profile', 'web', webraSample],
      ['certificate.profile', 'other', { ...webraSample, name: 'other' }],
    ]);
    await bench.commit(rows.map((row) => insert(certificateTable, row)));
    await bench.commit([update(certificateTable, { id: idOf(1) }, { revocation_date: start, revocation_reason: 'superseded' })]);
  });
  after(() => bench.close());

  const call = (id: string, input: object, principal: Principal = everywhere) =>
    bench.perform(certificateOperations.find((one) => one.id === `certificate.${id}`)!, input, principal);
  const search = (body: object, principal?: Principal) => call('search', { body }, principal);
  const answerOf = async (reply: Reply | Promise<Reply>) => JSON.parse(JSON.stringify((await reply).body));
  const serials = async (body: object, principal?: Principal): Promise<number[]> =>
    (await answerOf(search(body, principal))).results.map(({ _id }: { _id: string }) => Number(_id));
  const problemOf = ({ status, body }: Reply) => [status, (body as { error?: string } | undefined)?.error];

  describe('a search', () => {
    it('shows what the profiles and ownership of the caller let it see', async () => {
      assert.deepEqual(await serials({}, searcher), [1, 3]);
      assert.deepEqual(await serials({}, ada), [2]);
      assert.deepEqual(await serials({}, blue), [4]);
      assert.deepEqual(await serials({}, everywhere), [1, 2, 3, 4]);
      assert.deepEqual(await serials({}, principalWith(['configuration:*'], 'eve')), []);
      assert.deepEqual(problemOf(await search({}, nobody)), [403, 'SEC-AUTH-006']);
    });

    it('does not let a query reach beyond that', async () => {
      assert.deepEqual(await serials({ query: 'dn exists or profile equals "other"' }, searcher), [1, 3]);
      assert.deepEqual(await serials({ query: 'profile equals "web" or owner not equals "ada"' }, ada), []);
    });

    it('answers as the contract says', async () => {
      const answer = await answerOf(search({ withCount: true, pageSize: 1 }, searcher));
      certificateSearchResults.strict().parse(answer);
      assert.deepEqual([answer.count, answer.hasMore, answer.pageIndex, answer.pageSize], [2, true, 1, 1]);
      assert.equal(answer.results[0].permissions.revoke, true);
      assert.equal(answer.results[0].permissions.update, false);
      assert.equal(answer.results[0].revocationReason, 'superseded');
      assert.ok(!('revoked' in answer.results[0]) && !('escrowed' in answer.results[0]));
    });

    it('answers the fields that are asked for', async () => {
      const fields = async (...names: string[]) =>
        (await answerOf(search({ fields: names, pageSize: 1, sortedBy: [{ element: '_id', order: 'Desc' }] }, searcher))).results[0];
      assert.deepEqual(await fields(), { _id: idOf(3) });
      assert.deepEqual(await fields('dn', 'escrowed'), { _id: idOf(3), dn: 'CN=c.example,O=Example', escrowed: false });
      assert.deepEqual(await fields('label.tier', 'grade.strict'), { _id: idOf(3), labels: [{ key: 'tier', value: 'gold' }] });
      assert.equal((await fields('labels', 'label.tier')).labels.length, 2);
      for (const name of ['permissions', 'revoked', 'nothing', '__proto__', 'label.']) {
        assert.deepEqual(problemOf(await search({ fields: [name] })), [400, 'CERT-SEARCH-002'], name);
      }
    });

    it('sorts, and refuses what cannot be sorted by', async () => {
      assert.deepEqual(
        await serials({
          sortedBy: [
            { element: 'profile', order: 'Asc' },
            { element: 'dn', order: 'Desc' },
          ],
        }),
        [4, 2, 3, 1],
      );
      assert.deepEqual(problemOf(await search({ sortedBy: [{ element: 'certificate', order: 'Asc' }] })), [400, 'CERT-SEARCH-002']);
      for (const query of ['dn equals', 'grade equals A', 'DN exists', 'san matches "(?=a)"']) {
        assert.deepEqual(problemOf(await search({ query })), [400, 'HQL-001'], query);
      }
    });

    it('nests as deep as the setting says', async () => {
      const operation = certificateOperations.find(({ id }) => id === 'certificate.search')!;
      const input = { params: {}, query: {}, body: { query: '((dn exists))' } };
      for (const [queryDepthMax, status] of [
        [1, 400],
        [2, 200],
      ] as const) {
        const context = { ...(await bench.as(everywhere)), queryDepthMax };
        assert.equal((await bench.performer.perform(operation, input, context)).status, status, String(queryDepthMax));
      }
    });

    const found: readonly (readonly [string, readonly number[]])[] = [
      ['status is valid', [2, 4]],
      ['status is revoked', [1]],
      ['status is expired', [3]],
      ['status is not valid', [1, 3]],
      ['san equals "192.0.2.2"', [2]],
      ['san contains "B.EXAMPLE"', [2]],
      ['label.site exists and label.site not equals "north"', [3]],
      ['metadata.pki_connector equals "lab"', [1]],
      ['owner in ["ada", "bob"]', [1, 2]],
      ['team equals "blue"', [4]],
      ['contactemail exists', [2]],
      ['revocation.reason equals "superseded" and revocation.date not before today', [1]],
      ['valid.until before 0d', [3]],
      ['primarykeytype equals "ec-secp256r1" and alternatekeytype not exists', [1, 2, 3, 4]],
      ['certificatetype is legacy', [1, 2, 3, 4]],
      ['certificatetype is hybrid or certificatetype is pqc or certificatetype is unknown', []],
      ['certificate is archived or certificate is discovered or certificate is escrowed or certificate is trusted', []],
      ['certificate is not selfsigned', [1, 2, 3, 4]],
    ];
    for (const [query, expected] of found) it(`finds ${query}`, async () => assert.deepEqual(await serials({ query }), expected));

    it('can be asked for every field', async () => {
      const { fields, families, specials } = certificateDictionary;
      const members = Object.entries(families!).flatMap(([family, { keys }]) =>
        (keys instanceof RegExp ? ['x'] : keys).map((key) => `${family}.${key}`),
      );
      const queries = [
        ...[...Object.keys(fields), ...members].map((name) => `${name} exists`),
        ...Object.entries(fields).map(([name, { kind }]) => (kind === 'date' ? `${name} before now` : `${name} in ["x", "y"]`)),
        ...Object.entries(specials!).flatMap(([name, { verb, values }]) => Object.keys(values).map((value) => `${name} ${verb} ${value}`)),
      ];
      for (const query of queries) assert.equal((await search({ query, withCount: true })).status, 200, query);
      for (const element of [
        ...Object.values(fields).flatMap(({ sortName }) => sortName ?? []),
        ...Object.keys(certificateDictionary.sorts!),
      ]) {
        assert.equal((await search({ sortedBy: [{ element, order: 'Desc' }] })).status, 200, element);
      }
    });
  });

  describe('one certificate', () => {
    const pem = encodePem('CERTIFICATE', rows[0]!.der);

    it('is got by its id, with what the caller may do', async () => {
      const answer = await answerOf(call('get.id', { params: { id: idOf(1) } }, searcher));
      certificateWithPermissions.parse(answer);
      certificateResponse.strict().parse(answer.certificate);
      assert.equal(answer.certificate.certificate, pem);
      assert.deepEqual(answer.certificate.subjectAlternateNames, [
        { sanType: 'DNSNAME', value: 'a.example' },
        { sanType: 'IPADDRESS', value: '192.0.2.1' },
      ]);
      assert.deepEqual(answer.certificate.extensions, [{ key: 'ms_sid', value: 'S-1-5-21-1' }]);
      assert.deepEqual([answer.certificate.revoked, answer.certificate.serial, answer.certificate.profile], [true, '01', 'web']);
      assert.deepEqual(
        [answer.permissions.revoke, answer.permissions.requestRevoke, answer.permissions.requestUpdate],
        [true, true, false],
      );
    });

    it('lets its owner ask for what owners may ask', async () => {
      const { permissions } = await answerOf(call('get.id', { params: { id: idOf(2) } }, ada));
      const held = Object.keys(permissions).filter((name) => permissions[name]);
      assert.deepEqual(held, ['requestRevoke', 'requestUpdate', 'requestRecover', 'requestRenew']);
    });

    it('is not told of to who may not see it', async () => {
      const get = async (serial: number, principal: Principal) =>
        problemOf(await call('get.id', { params: { id: idOf(serial) } }, principal));
      assert.deepEqual(await get(2, searcher), [403, 'SEC-PERM-001']);
      assert.deepEqual(await get(9, searcher), [404, 'CERT-SEARCH-003']);
      assert.deepEqual(await get(5, everywhere), [403, 'SEC-PERM-001']);
      for (const serial of [1, 9]) {
        assert.deepEqual(await get(serial, ada), [403, 'SEC-PERM-001']);
        assert.deepEqual(await get(serial, nobody), [403, 'SEC-AUTH-006']);
        for (const body of [{ id: idOf(serial) }, ...(serial === 1 ? [{ pem }] : [])]) {
          assert.deepEqual(problemOf(await call('find', { body }, ada)), [404, 'CERT-SEARCH-003']);
          assert.deepEqual(problemOf(await call('find', { body }, nobody)), [403, 'SEC-AUTH-006']);
        }
      }
    });

    for (const [how, text] of [
      ['as it is', pem],
      ['escaped again', encodeURIComponent(pem)],
      ['with spaces for line ends', pem.replaceAll('\n', ' ')],
      ['with + in its frame', pem.replaceAll(' CERTIFICATE', '+CERTIFICATE')],
    ] as const) {
      it(`is found by its PEM ${how}`, async () => {
        assert.equal((await answerOf(call('get.pem', { params: { pem: text } }, searcher))).thumbprint, rows[0]!.thumbprint);
        assert.equal((await answerOf(call('find', { body: { pem: text } }, searcher))).certificate._id, idOf(1));
      });
    }

    it('is not found by what is no certificate', async () => {
      for (const text of [
        '',
        'x',
        '%',
        '%zz%41',
        pem + pem,
        pem.replace('MII', 'AAA'),
        encodePem('CERTIFICATE', new Uint8Array(3)),
        `${'-----BEGIN CERTIFICATE-----'.repeat(9)}`,
      ]) {
        assert.deepEqual(problemOf(await call('get.pem', { params: { pem: text } })), [400, 'CERT-SEARCH-002'], text.slice(0, 40));
      }
      for (const body of [{}, { id: 'x' }, { pem: 1 }]) assert.deepEqual(problemOf(await call('find', { body })), [400, 'CERT-SEARCH-002']);
    });

    it('comes in a list with the others that can be seen', async () => {
      const list = async (ids: unknown, principal: Principal = searcher) => call('list', { body: ids }, principal);
      const answer = await answerOf(list([idOf(3), idOf(2), 'x', idOf(1), idOf(3)]));
      assert.deepEqual(
        answer.map(({ certificate }: { certificate: { _id: string } }) => Number(certificate._id)),
        [3, 1],
      );
      assert.deepEqual(await list([idOf(2), 'x']), { status: 204 });
      assert.deepEqual(problemOf(await list([idOf(1)], nobody)), [403, 'SEC-AUTH-006']);
    });
  });

  it('shows everybody what a profile shows everybody', async () => {
    const open = {
      ...webraSample,
      name: 'open',
      authorizationLevels: { ...webraSample.authorizationLevels, search: { accessLevel: 'everyone' } },
    };
    await writeGiven(bench, [['certificate.profile', 'open', open]]);
    await bench.commit([insert(certificateTable, rowOf(6, 'f.example', { profile: 'open' }))]);
    assert.deepEqual(await serials({}, nobody), [6]);
    const { permissions } = await answerOf(call('get.id', { params: { id: idOf(6) } }, nobody));
    assert.ok(Object.values(permissions).every((may) => may === false));
    assert.deepEqual(problemOf(await call('get.id', { params: { id: idOf(1) } }, nobody)), [403, 'SEC-PERM-001']);
  });
});

it('calls holders the same whatever the order and spelling of their names', () => {
  const names = [
    { type: 'IPADDRESS', value: '2001:db8::1' },
    { type: 'DNSNAME', value: 'a.example' },
  ] as const;
  const id = holderId('CN=a', names);
  assert.match(id, /^[0-9a-f]{64}$/);
  assert.equal(holderId('CN=a', [names[1], { type: 'IPADDRESS', value: '2001:DB8:0:0::1' }]), id);
  for (const other of [
    holderId('CN=b', names),
    holderId('CN=a', names.slice(1)),
    holderId('CN=a', [names[0], { type: 'URI', value: 'a.example' }]),
  ])
    assert.notEqual(other, id);
});
