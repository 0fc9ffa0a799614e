/** What people may not: see each other's requests, come in with what was taken from them, decide for themselves, decide too late. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, at, type Client } from '../support/client.ts';
import { createDatabase } from '../support/database.ts';
import { makeCsr, openDesk } from '../support/openssl.ts';
import { administratorSecret, type RunningService, startService } from '../support/service.ts';
import { grant, is, person, profileNamed, refused, sql } from '../support/story.ts';

const desk = openDesk();
const csr = makeCsr(desk, '/CN=www.corp.test', { san: 'DNS:www.corp.test' });
const profiles = '/api/v1/certificate/profiles';
const locals = '/api/v1/security/identity/locals';
const self = '/api/v1/security/principals/self';
const on = (profile: string, ...rights: readonly string[]) => rights.map((right) => `lifecycle:webra:${profile}:${right}`);

/** Two processes on one database: whatever one is told, the other knows at the next call. */
let services: readonly RunningService[];
let admin: Client;
let [ada, amy]: Client[] = [];
const everywhere = (people: readonly Client[], call: (client: Client) => Promise<void>) => Promise.all(people.map(call));
const newcomer = (identifier: string, permissions: readonly string[]) => person(admin, identifier, permissions, services);

before(async () => {
  const { url } = await createDatabase();
  const start = () => startService({ databaseUrl: url });
  services = [await start(), await start()];
  admin = services[0]!.client('administrator', administratorSecret);
  is(201, await admin.call('POST', '/api/v1/pki/connectors', { name: 'house', type: 'integrated', cryptoType: 'legacy' }));
  for (const name of ['web', 'mail']) is(201, await admin.call('POST', profiles, profileNamed(name, 'house')));
  [ada] = await newcomer('ada', on('web', 'request_enroll', 'search'));
  [amy] = await newcomer('amy', on('web', 'approve_enroll'));
});
after(async () => {
  await Promise.all((services ?? []).map((service) => service.stop()));
  desk.close();
});

const submit = (client: Client, profile = 'web') => client.call('POST', '/api/v1/requests/submit', { profile, template: { csr } });
const decide = (client: Client, move: 'approve' | 'deny' | 'cancel', _id: string, more: object = {}) =>
  client.call('POST', `/api/v1/requests/${move}`, { module: 'webra', workflow: 'enroll', _id, ...more });
const pending = async (client: Client, profile?: string): Promise<string> => {
  const request = is(201, await submit(client, profile));
  assert.equal(at(request, 'status'), 'pending');
  return String(at(request, '_id'));
};

describe('what others see', () => {
  it('requests and certificates only by a right', async () => {
    const [bob] = await newcomer('bob', on('web', 'request_enroll'));
    const [eve] = await newcomer('eve', on('mail', 'request_enroll', 'search', 'approve_enroll'));
    const id = await pending(ada!);
    const seen = (client: Client) => client.call('GET', `/api/v1/requests/${id}`);
    for (const client of [bob!, eve!, services[0]!.client()]) refused(403, 'SEC-PERM-001', await seen(client));
    for (const client of [ada!, amy!]) is(200, await seen(client));
    for (const client of [bob!, eve!]) {
      refused(403, 'SEC-PERM-001', await decide(client, 'approve', id));
      refused(403, 'SEC-PERM-001', await decide(client, 'deny', id));
      refused(403, 'SEC-PERM-001', await decide(client, 'cancel', id));
    }
    refused(403, 'SEC-PERM-001', await submit(bob!, 'mail'));

    const certificate = at(is(200, await decide(amy!, 'approve', id)), 'certificate._id');
    const found = async (client: Client) =>
      at(is(200, await client.call('POST', '/api/v1/certificates/search', { query: 'dn contains "www.corp"', withCount: true })), 'count');
    assert.deepEqual(await Promise.all([ada!, bob!, eve!].map(found)), [1, 0, 0]);
    is(200, await ada!.call('GET', `/api/v1/certificates/${certificate}`));
    for (const client of [bob!, eve!]) assert.ok((await client.call('GET', `/api/v1/certificates/${certificate}`)).status >= 400);
  });
});

describe('who comes in', () => {
  const told = ({ status, body, headers }: Answer) => ({
    status,
    body,
    headers: [...headers].filter(([name]) => name !== 'date'),
  });
  const wrong = async () => told(await services[0]!.client('nobody-of-this-name', 'secret of ada').call('GET', self));

  it('a wrong secret, an unknown name and a disabled account are told the same', async () => {
    await newcomer('kim', on('web', 'search'));
    const expected = await wrong();
    assert.deepEqual([expected.status, at(expected.body, 'error')], [401, 'SEC-AUTH-002']);
    assert.equal(at(expected.body, 'detail'), undefined);
    assert.deepEqual(told(await services[0]!.client('kim', 'secret of ada').call('GET', self)), expected);
    const info = { identifier: 'kim', contact: 'kim@corp.test', permissions: [], roles: [], enabled: false };
    is(200, await admin.call('PUT', '/api/v1/security/principalinfos', info));
    assert.deepEqual(told(await services[0]!.client('kim', 'secret of kim').call('GET', self)), expected);
  });

  it('a changed secret is refused at once, wherever it was believed', async () => {
    const people = await newcomer('lea', on('web', 'search'));
    await everywhere(people, async (client) => void is(200, await client.call('GET', self)));
    is(204, await admin.call('PATCH', locals, { identifier: 'lea', password: 'another secret' }));
    await everywhere(people, async (client) => void refused(401, 'SEC-AUTH-002', await client.call('GET', self)));
    for (const service of services) is(200, await service.client('lea', 'another secret').call('GET', self));
  });

  it('a deleted account is gone at once, and its name is nobody’s secret', async () => {
    const people = await newcomer('max', on('web', 'search'));
    await everywhere(people, async (client) => void is(200, await client.call('GET', self)));
    is(204, await admin.call('DELETE', `${locals}/max`));
    await everywhere(people, async (client) => void refused(401, 'SEC-AUTH-002', await client.call('GET', self)));
    is(201, await admin.call('POST', locals, { identifier: 'max' }));
    await everywhere(people, async (client) => void refused(401, 'SEC-AUTH-002', await client.call('GET', self)));
  });

  it('a right that is taken away is gone at the next call', async () => {
    const people = await newcomer('ned', on('web', 'request_enroll'));
    await everywhere(people, async (client) => void is(201, await submit(client)));
    await grant(admin, 'PUT', 'ned', on('mail', 'request_enroll'));
    await everywhere(people, async (client) => void refused(403, 'SEC-PERM-001', await submit(client)));
    await everywhere(people, async (client) => void is(201, await submit(client, 'mail')));
  });
});

describe('who decides', () => {
  it('nobody on their own request, whatever else they may', async () => {
    const { enroll: _, enrollApi: __, ...levels } = profileNamed('asked', 'house').authorizationLevels;
    is(201, await admin.call('POST', profiles, profileNamed('asked', 'house', { authorizationLevels: levels })));
    const id = await pending(admin, 'asked');
    for (const move of ['approve', 'deny'] as const) refused(403, 'SEC-PERM-001', await decide(admin, move, id));
    const [boss] = await newcomer('boss', ['lifecycle:*']);
    assert.equal(at(is(200, await decide(boss!, 'approve', id)), 'status'), 'completed');
  });

  it('an approver changes what approvers may change, and nothing else', async () => {
    const certificateTemplate = {
      subject: [{ type: 'CN', mandatory: true, editableByRequester: true, editableByApprover: false }],
      sans: [{ type: 'DNSNAME', editableByRequester: true, editableByApprover: true }],
    };
    is(201, await admin.call('POST', profiles, profileNamed('fixed', 'house', { certificateTemplate })));
    const [asker] = await newcomer('asker', on('fixed', 'request_enroll'));
    const [approver] = await newcomer('approver', on('fixed', 'approve_enroll'));
    const id = await pending(asker!, 'fixed');
    const edited = (template: object) => decide(approver!, 'approve', id, { template });
    refused(400, 'WEBRA-ENROLL-004', await edited({ subject: [{ element: 'cn.1', value: 'other.corp.test' }] }));
    refused(400, 'WEBRA-ENROLL-005', await edited({ sans: [{ type: 'IPADDRESS', value: ['192.0.2.1'] }] }));
    const pem = at(is(200, await edited({ sans: [{ type: 'DNSNAME', value: ['other.corp.test'] }] })), 'certificate.certificate');
    const shown = desk.run('x509', '-in', desk.file('edited.pem', String(pem)), '-noout', '-subject', '-ext', 'subjectAltName');
    assert.match(shown, /CN = www\.corp\.test/);
    assert.match(shown, /DNS:other\.corp\.test$/m);
  });

  it('nobody approves what was asked of a profile as it was', async () => {
    const [denied, canceled] = [await pending(ada!), await pending(ada!)];
    is(200, await admin.call('PUT', profiles, profileNamed('web', 'house', { requestsPolicy: { enroll: '4 days' } })));
    refused(500, 'WEBRA-ENROLL-010', await decide(amy!, 'approve', denied));
    assert.equal(at(is(200, await decide(amy!, 'deny', denied)), 'status'), 'denied');
    assert.equal(at(is(200, await decide(ada!, 'cancel', canceled)), 'status'), 'canceled');
    for (const move of ['approve', 'deny'] as const) refused(400, 'REQ-004', await decide(amy!, move, denied));
  });

  it('nobody decides what has expired', async () => {
    const id = await pending(ada!);
    await sql(services[0]!.databaseUrl, 'update request set expiration_date = registration_date where id = $1', [id]);
    for (const move of ['approve', 'deny'] as const) refused(400, 'REQ-005', await decide(amy!, move, id));
    refused(400, 'REQ-005', await decide(ada!, 'cancel', id));
  });
});
