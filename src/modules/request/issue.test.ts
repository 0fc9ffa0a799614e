import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { eventsIn, principalWith } from '../../../test/support/context.ts';
import { openRequestDesk, type RequestDesk } from '../../../test/support/requests.ts';
import type { Reply } from '../../kernel/action.ts';
import { OrderRefused, QueueFull } from '../pki/index.ts';

const day = 86_400_000;
const direct = principalWith(['lifecycle:webra:web:enroll'], 'ada');
const bodyOf = (reply: Reply) => reply.body as Record<string, unknown>;
const said = (reply: Reply) => [reply.status, bodyOf(reply)['error'], bodyOf(reply)['detail']];

describe('issuing', () => {
  let desk: RequestDesk;
  before(async () => {
    desk = await openRequestDesk();
  });
  after(() => desk.close());
  beforeEach(() => desk.clear());
  const submit = () => desk.call('submit', { profile: 'web', template: { csr: desk.csr } }, direct);

  it('signs what was committed before', async () => {
    let before: unknown;
    const { issue } = desk.authority;
    desk.authority.issue = async (order, prepared) => {
      const { rows } = await desk.bench.database.writers.query('select request_id, serial, tbs, tbs_hash, connector from issuance');
      before = [rows, { request_id: order.id, serial: prepared?.serial, tbs_hash: prepared?.tbsHash, connector: 'stub' }];
      return issue(order, prepared);
    };
    const reply = await submit();
    const [[row], expected] = before as [[Record<string, unknown>], object];
    assert.partialDeepStrictEqual(row, expected);
    assert.equal((bodyOf(reply)['certificate'] as { serial: string }).serial, row['serial']);
  });

  for (const [what, answer, status, code, detail] of [
    ['refuses', () => Promise.reject(new OrderRefused(['not this name'])), 500, 'WEBRA-ENROLL-011', 'not this name'],
    ['throws', () => Promise.reject(new Error('secret words')), 500, 'WEBRA-ENROLL-011', undefined],
    ['throws what is no error', () => Promise.reject('secret words'), 500, 'WEBRA-ENROLL-011', undefined],
    ['is full', () => Promise.reject(new QueueFull('q', 1)), 503, 'ROUTE-006', "the PKI queue 'q' is full: 1 orders are under way"],
    ['answers later', async () => ({ state: 'pending', ticket: 't' }) as const, 500, 'WEBRA-ENROLL-011', undefined],
    [
      'answers no certificate',
      async () => ({ state: 'issued', certificate: Buffer.from('3000', 'hex'), chain: [] }) as const,
      500,
      'WEBRA-ENROLL-011',
      undefined,
    ],
  ] as const)
    it(`by an authority that ${what} leaves a failed request, its event and no certificate`, async () => {
      desk.authority.issue = answer;
      const reply = await submit();
      assert.deepEqual(said(reply), [status, code, detail]);
      assert.deepEqual(await desk.left(), {
        requests: [['failed', detail ?? 'Web Registration Authority enrollment failed']],
        issuances: 1,
        certificates: 0,
      });
      assert.deepEqual(await desk.events(), ['REQUEST-SUBMIT success', 'LIFECYCLE-ENROLL failure']);
      assert.doesNotMatch(JSON.stringify([reply, await eventsIn(desk.bench.database)]), /secret words/);
      desk.bench.clock.move(day);
      await desk.reconcile();
      assert.equal((await desk.left()).certificates, 0);
    });

  it('keeps a failed request for seven days', async () => {
    desk.authority.issue = async () => Promise.reject(new OrderRefused(['no']));
    await submit();
    const { rows } = await desk.bench.database.writers.query('select remove_at from request');
    assert.equal(Number(rows[0].remove_at) - desk.bench.clock.now(), 7 * day);
  });

  it('takes no certificate of another key', async () => {
    const { prepare } = desk.authority;
    const other = Buffer.from(
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==',
      'base64',
    );
    desk.authority.prepare = (order) => prepare({ ...order, spki: other });
    assert.deepEqual(said(await submit()), [500, 'WEBRA-ENROLL-011', undefined]);
    assert.equal((await desk.left()).certificates, 0);
  });

  it('is answered with what somebody else has made of it meanwhile, and told once', async () => {
    const { issue } = desk.authority;
    desk.authority.issue = async (order, prepared) => {
      desk.authority.issue = issue;
      desk.bench.clock.move(61_000);
      await desk.reconcile();
      return issue(order, prepared);
    };
    const reply = await submit();
    assert.deepEqual([reply.status, bodyOf(reply)['status']], [201, 'completed']);
    assert.deepEqual(await desk.left(), { requests: [['completed', null]], issuances: 1, certificates: 1 });
    assert.deepEqual(await desk.events(), ['REQUEST-SUBMIT success', 'LIFECYCLE-ENROLL success']);
  });

  it('is answered with the failure that somebody else has met meanwhile', async () => {
    const { issue } = desk.authority;
    desk.authority.issue = async (order, prepared) => {
      desk.authority.issue = async () => Promise.reject(new OrderRefused(['no more']));
      desk.bench.clock.move(61_000);
      await desk.reconcile();
      return issue(order, prepared);
    };
    assert.deepEqual(said(await submit()), [500, 'WEBRA-ENROLL-011', 'no more']);
    assert.deepEqual(await desk.left(), { requests: [['failed', 'no more']], issuances: 1, certificates: 0 });
    assert.deepEqual(await desk.events(), ['REQUEST-SUBMIT success', 'LIFECYCLE-ENROLL failure']);
  });
});

describe('the reconciler', () => {
  let desk: RequestDesk;
  before(async () => {
    desk = await openRequestDesk();
  });
  after(() => desk.close());
  beforeEach(() => desk.clear());
  const done = { requests: [['completed', null]], issuances: 1, certificates: 1 };

  it('finishes what a process left that died after the decision, once', async () => {
    const id = await desk.die(direct);
    assert.deepEqual(await desk.left(), { requests: [['approved', null]], issuances: 1, certificates: 0 });
    for (let i = 0; i < 2; i++) {
      await desk.reconcile();
      assert.equal((await desk.left()).certificates, 0, 'what is under way elsewhere is left alone');
    }
    desk.bench.clock.move(61_000);
    for (let i = 0; i < 2; i++) await desk.reconcile();
    assert.deepEqual([await desk.left(), await desk.events()], [done, ['LIFECYCLE-ENROLL success']]);
    const { certificate } = bodyOf(await desk.get(id, direct));
    const { rows } = await desk.bench.database.writers.query('select serial from issuance');
    assert.equal((certificate as { serial: string }).serial, rows[0].serial);
  });

  it('does no harm when it runs at the same time in several processes', async () => {
    await desk.die(direct);
    desk.bench.clock.move(61_000);
    await Promise.all(Array.from({ length: 4 }, () => desk.reconcile()));
    assert.deepEqual([await desk.left(), await desk.events()], [done, ['LIFECYCLE-ENROLL success']]);
  });

  it('finishes what was decided even if the profile has changed since', async () => {
    await desk.die(direct);
    await desk.putProfile({ certificateTemplate: { subject: [{ type: 'O', mandatory: true }] } });
    desk.bench.clock.move(61_000);
    await desk.reconcile();
    assert.deepEqual(await desk.left(), done);
  });

  it('is not held up by one that cannot be carried on', async () => {
    const broken = await desk.die(direct);
    await desk.bench.database.writers.query(`update request set template = jsonb_set(template, '{csr}', '"x"') where id = $1`, [broken]);
    desk.bench.clock.move(1);
    await desk.die(direct);
    desk.bench.clock.move(61_000);
    await desk.reconcile();
    assert.deepEqual((await desk.left()).requests.map(([status]) => status).sort(), ['approved', 'completed']);
  });
});
