import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { principalWith } from '../../../test/support/context.ts';
import { openRequestDesk, type RequestDesk } from '../../../test/support/requests.ts';
import type { Reply } from '../../kernel/action.ts';
import { nobody, type Principal } from '../../kernel/principal.ts';
import { OrderRefused, QueueFull } from '../pki/index.ts';

const day = 86_400_000;
const asking = principalWith(['lifecycle:webra:web:request_enroll'], 'bob');
const approver = principalWith(['lifecycle:webra:web:approve_enroll'], 'eve');
const stranger = principalWith(['lifecycle:webra:other:*', 'lifecycle:webra:web:enroll', 'configuration:*'], 'mallory');
const bodyOf = (reply: Reply) => reply.body as Record<string, unknown>;
const said = (reply: Reply) => [reply.status, bodyOf(reply)['error']];

describe('a pending request', () => {
  let desk: RequestDesk;
  let id: string;
  before(async () => {
    desk = await openRequestDesk();
  });
  after(() => desk.close());
  beforeEach(async () => {
    await desk.clear();
    id = String(bodyOf(await ask())['_id']);
    await desk.bench.database.writers.query('delete from event_pending');
  });
  const ask = (principal: Principal = asking, template: object = {}) =>
    desk.call('submit', { profile: 'web', template: { csr: desk.csr, ...template } }, principal);
  const decide = (move: string, principal: Principal, more: object = {}) => desk.call(move, { _id: id, ...more }, principal);
  const pending = { requests: [['pending', null]], issuances: 0, certificates: 0 };

  it('is approved and carried out', async () => {
    const reply = await decide('approve', approver, { approverComment: 'fine' });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    assert.partialDeepStrictEqual(bodyOf(reply), { status: 'completed', approver: 'eve', requester: 'bob', approverComment: 'fine' });
    assert.deepEqual(await desk.left(), { requests: [['completed', null]], issuances: 1, certificates: 1 });
    assert.deepEqual(await desk.events(), ['REQUEST-APPROVE success', 'LIFECYCLE-ENROLL success']);
  });

  it('is approved with what the approver changes, and the requester sees it', async () => {
    const subject = [{ element: 'ou.1', value: 'Web' }];
    const reply = await decide('approve', approver, { template: { subject } });
    assert.partialDeepStrictEqual(bodyOf(reply), { dn: 'CN=www.example,OU=Web', certificate: { dn: 'CN=www.example,OU=Web' } });
    assert.partialDeepStrictEqual(bodyOf(await desk.get(id, asking)), { dn: 'CN=www.example,OU=Web', status: 'completed' });
  });

  it('is not approved with edits that are wrong', async () => {
    for (const [template, code] of [
      [{ subject: [{ element: 'cn.1', value: '' }] }, 'WEBRA-ENROLL-004'],
      [{ sans: [{ type: 'DNSNAME', value: ['no name'] }] }, 'WEBRA-ENROLL-005'],
      [{ asynchronous: true }, 'REQ-002'],
    ] as const)
      assert.deepEqual(said(await decide('approve', approver, { template })), [400, code]);
    assert.deepEqual(await desk.left(), pending);
  });

  it('is approved as a dry run: nothing is left', async () => {
    const reply = await decide('approve', approver, { dryRun: true });
    assert.deepEqual([reply.status, bodyOf(reply)['status'], bodyOf(reply)['dryRun']], [200, 'approved', true]);
    assert.deepEqual([await desk.left(), await desk.events()], [pending, []]);
  });

  it('is denied', async () => {
    const reply = await decide('deny', approver, { module: 'webra', workflow: 'enroll', approverComment: 'no' });
    assert.partialDeepStrictEqual(bodyOf(reply), { status: 'denied', approver: 'eve', approverComment: 'no' });
    assert.deepEqual(await desk.left(), { ...pending, requests: [['denied', null]] });
    assert.deepEqual(await desk.events(), ['REQUEST-DENY success']);
  });

  it('is canceled by who asked and by the owner, in either spelling of the id', async () => {
    assert.deepEqual([(await decide('cancel', asking)).status, await desk.events()], [200, ['REQUEST-CANCEL success']]);
    const { _id: owned } = bodyOf(await ask(asking, { owner: { value: 'olga' } }));
    assert.equal(bodyOf(await desk.call('cancel', { id: owned }, principalWith([], 'olga')))['status'], 'canceled');
  });

  for (const move of ['approve', 'deny', 'cancel'])
    it(`is left as it is when others try to ${move} it`, async () => {
      assert.deepEqual(said(await decide(move, nobody)), [403, 'SEC-AUTH-006']);
      assert.deepEqual(said(await decide(move, stranger)), [403, 'SEC-PERM-001']);
      assert.deepEqual(said(await decide(move, move === 'cancel' ? approver : asking)), [403, 'SEC-PERM-001']);
      assert.deepEqual(said(await desk.call(move, {}, approver)), [400, 'REQ-002']);
      assert.deepEqual(said(await desk.call(move, { _id: 'f'.repeat(24) }, approver)), [404, 'REQ-003']);
      assert.deepEqual(await desk.left(), pending);
      assert.deepEqual(await desk.events(), Array(5).fill(`REQUEST-${move.toUpperCase()} failure`));
    });

  it('of one’s own is not decided, whatever the right', async () => {
    const both = principalWith(['lifecycle:webra:web:*'], 'bob');
    for (const move of ['approve', 'deny']) {
      const reply = await decide(move, both);
      assert.deepEqual(said(reply), [403, 'SEC-PERM-001']);
      assert.match(String(bodyOf(reply)['detail']), /own request/);
    }
    assert.deepEqual(await desk.left(), pending);
  });

  it('is decided once', async () => {
    for (const [first, principal] of [
      ['approve', approver],
      ['deny', approver],
      ['cancel', asking],
    ] as const) {
      await desk.clear();
      id = String(bodyOf(await ask())['_id']);
      assert.equal((await decide(first, principal)).status, 200);
      for (const [then, who] of [
        ['approve', approver],
        ['deny', approver],
        ['cancel', asking],
      ] as const)
        assert.deepEqual(said(await decide(then, who)), [400, 'REQ-004'], `${then} after ${first}`);
    }
  });

  it('is decided once when all come at the same time', async () => {
    const moves = [...Array(6).fill(['approve', approver]), ['deny', approver], ['cancel', asking]] as [string, Principal][];
    const replies = await Promise.all(moves.map(([move, principal]) => decide(move, principal)));
    assert.equal(replies.filter(({ status }) => status === 200).length, 1);
    for (const reply of replies) if (reply.status !== 200) assert.deepEqual(said(reply), [400, 'REQ-004']);
    const { requests, certificates, issuances } = await desk.left();
    assert.ok(certificates <= 1 && issuances === certificates && (certificates === 1) === (requests[0]![0] === 'completed'));
    assert.equal((await desk.events()).filter((event) => /^REQUEST-.* success$/.test(event)).length, 1);
  });

  it('cannot be decided when its life is over', async () => {
    desk.bench.clock.move(2 * day);
    for (const [move, principal] of [
      ['approve', approver],
      ['deny', approver],
      ['cancel', asking],
    ] as const)
      assert.deepEqual(said(await decide(move, principal)), [400, 'REQ-005']);
    assert.deepEqual(await desk.left(), pending);
  });

  it('of a profile that was changed since can only be denied or canceled', async () => {
    await desk.putProfile();
    assert.deepEqual(said(await decide('approve', approver)), [500, 'WEBRA-ENROLL-010']);
    assert.deepEqual(await desk.left(), pending);
    await desk.putProfile({ enabled: false });
    assert.deepEqual(said(await decide('approve', approver)), [404, 'REQ-010']);
    assert.equal((await decide('deny', approver)).status, 200);
    await desk.putProfile();
    id = String(bodyOf(await ask())['_id']);
    await desk.putProfile();
    assert.equal((await decide('cancel', asking)).status, 200);
  });

  it('stays pending when the authority cannot prepare it', async () => {
    for (const [error, status, code] of [
      [new OrderRefused(['not this name']), 500, 'WEBRA-ENROLL-011'],
      [new QueueFull('q', 1), 503, 'ROUTE-006'],
    ] as const) {
      desk.authority.prepare = async () => Promise.reject(error);
      assert.deepEqual(said(await decide('approve', approver)), [status, code]);
    }
    assert.deepEqual([await desk.left(), await desk.events()], [pending, Array(2).fill('REQUEST-APPROVE failure')]);
  });

  it('fails for good when the authority refuses it after the decision', async () => {
    desk.authority.issue = async () => Promise.reject(new OrderRefused(['not this name', 'nor that']));
    const reply = await decide('approve', approver);
    assert.deepEqual(said(reply), [500, 'WEBRA-ENROLL-011']);
    assert.equal(bodyOf(reply)['detail'], 'not this name; nor that');
    assert.deepEqual(await desk.left(), { requests: [['failed', 'not this name; nor that']], issuances: 1, certificates: 0 });
    assert.deepEqual(await desk.events(), ['REQUEST-APPROVE success', 'LIFECYCLE-ENROLL failure']);
    assert.deepEqual(said(await decide('approve', approver)), [400, 'REQ-004']);
  });
});
