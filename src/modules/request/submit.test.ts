import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { eventsIn, principalWith } from '../../../test/support/context.ts';
import { openRequestDesk, type RequestDesk } from '../../../test/support/requests.ts';
import type { Reply } from '../../kernel/action.ts';
import { nobody, type Principal } from '../../kernel/principal.ts';
import { OrderRefused, QueueFull } from '../pki/index.ts';

const day = 86_400_000;
const direct = principalWith(['lifecycle:webra:web:enroll'], 'ada');
const asking = principalWith(['lifecycle:webra:web:request_enroll'], 'bob');
const [approver, auditor, stranger] = [
  principalWith(['lifecycle:webra:web:approve_enroll'], 'eve'),
  principalWith(['lifecycle:webra:web:audit_request'], 'joe'),
  principalWith(['lifecycle:webra:other:*', 'configuration:*'], 'mallory'),
];
const nothing = { requests: [], issuances: 0, certificates: 0 };
const bodyOf = (reply: Reply) => reply.body as Record<string, unknown>;
const said = (reply: Reply) => [reply.status, bodyOf(reply)['error']];

describe('a request is submitted', () => {
  let desk: RequestDesk;
  before(async () => {
    desk = await openRequestDesk();
  });
  after(() => desk.close());
  beforeEach(() => desk.clear());
  const submit = (principal: Principal = direct, more: object = {}) =>
    desk.call('submit', { profile: 'web', template: { csr: desk.csr }, ...more }, principal);

  for (const right of ['enroll', 'enroll_api'])
    it(`and carried out at once with the right ${right}`, async () => {
      const reply = await submit(principalWith([`lifecycle:webra:web:${right}`]), { requesterComment: 'please' });
      assert.equal(reply.status, 201, JSON.stringify(reply.body));
      assert.partialDeepStrictEqual(bodyOf(reply), {
        status: 'completed',
        requester: 'ada',
        dn: 'CN=www.example',
        requesterComment: 'please',
        certificate: { dn: 'CN=www.example' },
      });
      assert.deepEqual(await desk.left(), { requests: [['completed', null]], issuances: 1, certificates: 1 });
      const events = await eventsIn(desk.bench.database);
      assert.deepEqual(
        events.map(({ code, status }) => [code, status]),
        [
          ['REQUEST-SUBMIT', 'success'],
          ['LIFECYCLE-ENROLL', 'success'],
        ],
      );
      const { _id: requestId, certificate } = bodyOf(reply) as { _id: string; certificate: { serial: string } };
      assert.partialDeepStrictEqual(events[1]!.details, { requestId, certificateProfile: 'web', certificateSerial: certificate.serial });
    });

  it('and waits for approval with the right to ask', async () => {
    const reply = await submit(asking);
    assert.deepEqual([reply.status, bodyOf(reply)['status'], bodyOf(reply)['certificate']], [201, 'pending', undefined]);
    assert.equal(Number(bodyOf(reply)['expirationDate']) - desk.bench.clock.now(), 2 * day);
    assert.equal(Number(bodyOf(reply)['removeAt']) - desk.bench.clock.now(), 32 * day);
    assert.deepEqual(await desk.left(), { requests: [['pending', null]], issuances: 0, certificates: 0 });
    assert.deepEqual(await desk.events(), ['REQUEST-SUBMIT success']);
  });

  it('as a dry run: nothing is left', async () => {
    for (const [principal, status] of [
      [direct, 'approved'],
      [asking, 'pending'],
    ] as const) {
      const reply = await submit(principal, { dryRun: true });
      assert.deepEqual([reply.status, bodyOf(reply)['dryRun'], bodyOf(reply)['status']], [201, true, status]);
    }
    assert.deepEqual([await desk.left(), await desk.events()], [nothing, []]);
  });

  for (const [what, principal, more, status, code] of [
    ['by nobody', nobody, {}, 403, 'SEC-AUTH-006'],
    ['without a right', stranger, {}, 403, 'SEC-PERM-001'],
    ['with the right to approve alone', approver, {}, 403, 'SEC-PERM-001'],
    ['for an unknown profile', direct, { profile: 'nowhere' }, 404, 'REQ-010'],
    ['of another module', direct, { module: 'est' }, 400, 'REQ-002'],
    ['of another workflow', direct, { workflow: 'renew' }, 400, 'REQ-002'],
    ['without a profile', direct, { profile: null }, 400, 'REQ-002'],
    ['for later', direct, { template: { asynchronous: true } }, 400, 'REQ-002'],
    ['without CSR and key type', direct, { template: {} }, 400, 'WEBRA-ENROLL-001'],
    ['for a key to be made', direct, { template: { keyType: 'rsa-2048' } }, 400, 'WEBRA-ENROLL-001'],
    ['with what is no CSR', direct, { template: { csr: 'x' } }, 400, 'WEBRA-ENROLL-003'],
  ] as const)
    it(`${what}: ${code}`, async () => {
      assert.deepEqual(said(await submit(principal, more)), [status, code]);
      assert.deepEqual([await desk.left(), await desk.events()], [nothing, ['REQUEST-SUBMIT failure']]);
    });

  for (const [what, template, code] of [
    ['an element that only approvers edit', { subject: [{ element: 'ou.1', value: 'x' }] }, 'WEBRA-ENROLL-004'],
    ['a subject without its mandatory element', { subject: [{ element: 'cn.1', value: '' }] }, 'WEBRA-ENROLL-004'],
    ['an alternative name that is none', { sans: [{ type: 'DNSNAME', value: ['not a name'] }] }, 'WEBRA-ENROLL-005'],
    ['a label that the profile lacks', { labels: [{ label: 'x', value: 'y' }] }, 'WEBRA-ENROLL-006'],
    ['an extension that it lacks', { extensions: [{ type: 'ms_sid', value: 'S-1-5-21-1' }] }, 'CERT-ELEM-001'],
  ] as const)
    it(`with ${what}: ${code}`, async () => {
      assert.deepEqual(said(await submit(direct, { template: { csr: desk.csr, ...template } })), [400, code]);
      assert.deepEqual(await desk.left(), nothing);
    });

  it('for a disabled profile, or one that takes no CSR or not this key', async () => {
    await desk.putProfile({ enabled: false });
    assert.deepEqual(said(await submit()), [404, 'REQ-010']);
    await desk.putProfile({ cryptoPolicy: { decentralized: false } });
    assert.deepEqual(said(await submit()), [400, 'WEBRA-ENROLL-001']);
    await desk.putProfile({ cryptoPolicy: { decentralized: true, authorizedKeyTypes: ['rsa-4096'] } });
    assert.deepEqual(said(await submit()), [400, 'WEBRA-ENROLL-002']);
    assert.deepEqual(await desk.left(), nothing);
  });

  it('with a CSR that was changed after it was signed', async () => {
    const der = Buffer.from(desk.csr.replace(/-----[^-]+-----/g, ''), 'base64');
    der[der.indexOf('www.example')]! ^= 1;
    const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
    assert.deepEqual(said(await submit(direct, { template: { csr } })), [400, 'WEBRA-ENROLL-003']);
  });

  it('when the authority refuses to prepare it, or has no place: nothing is left but the refusal', async () => {
    for (const [error, status, code] of [
      [new OrderRefused(['not this name']), 500, 'WEBRA-ENROLL-011'],
      [new QueueFull('q', 1), 503, 'ROUTE-006'],
      [new Error('secret words'), 500, 'WEBRA-ENROLL-011'],
    ] as const) {
      desk.authority.prepare = async () => Promise.reject(error);
      const reply = await submit();
      assert.deepEqual(said(reply), [status, code]);
      assert.doesNotMatch(JSON.stringify(reply), /secret words/);
    }
    assert.deepEqual(await desk.left(), nothing);
    assert.deepEqual(await desk.events(), Array(3).fill('REQUEST-SUBMIT failure'));
  });
});

describe('a request is read', () => {
  let desk: RequestDesk;
  before(async () => {
    desk = await openRequestDesk();
  });
  after(() => desk.close());
  beforeEach(() => desk.clear());

  it('by whom it belongs to, and by who may approve or audit', async () => {
    const owned = { csr: desk.csr, owner: { value: 'olga' } };
    const { _id: id } = bodyOf(await desk.call('submit', { profile: 'web', template: owned }, asking)) as { _id: string };
    for (const principal of [asking, principalWith([], 'olga'), approver, auditor])
      assert.equal((await desk.get(id, principal)).status, 200, String(principal.identifier));
    for (const principal of [direct, stranger, nobody]) assert.deepEqual(said(await desk.get(id, principal)), [403, 'SEC-PERM-001']);
    assert.equal((await desk.get(id.toUpperCase(), asking)).status, 200);
    assert.deepEqual(said(await desk.get('0'.repeat(24), asking)), [404, 'REQ-003']);
    const [cn, ou] = (bodyOf(await desk.get(id, asking))['template'] as { subject: { editable: boolean }[] }).subject;
    assert.deepEqual([cn?.editable, ou?.editable], [true, false]);
    assert.deepEqual(await desk.events(), ['REQUEST-SUBMIT success']);
  });

  it('as a template by who may ask or enroll', async () => {
    const body = { profile: 'web', template: { csr: desk.csr } };
    for (const principal of [direct, asking]) {
      const reply = await desk.call('template', body, principal);
      assert.partialDeepStrictEqual(bodyOf(reply), { template: { subject: [{ element: 'cn.1', value: 'www.example' }] } });
    }
    for (const principal of [stranger, nobody]) assert.deepEqual(said(await desk.call('template', body, principal)), [403, 'REQ-007']);
    assert.deepEqual(said(await desk.call('template', { profile: 'nowhere' }, direct)), [400, 'REQ-010']);
    assert.deepEqual(await desk.events(), []);
  });

  it('where profiles are listed that the caller may use', async () => {
    const list = async (principal: Principal, query = {}) => {
      const operation = desk.module.operations.find(({ id }) => id === 'request.certificate.profile')!;
      const { status, body } = await desk.bench.perform(operation, { query }, principal);
      return body === undefined ? status : (body as { workflows: unknown[] }[]).flatMap(({ workflows }) => workflows);
    };
    assert.deepEqual(await list(direct), [{ workflow: 'enroll', perform: true, request: false }]);
    assert.deepEqual(await list(asking), [{ workflow: 'enroll', perform: false, request: true }]);
    for (const principal of [approver, stranger, nobody]) assert.equal(await list(principal), 204);
    for (const query of [{ module: 'est' }, { workflow: 'renew' }]) assert.equal(await list(direct, query), 204);
    await desk.putProfile({ enabled: false });
    assert.equal(await list(direct), 204);
  });
});
