import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { benchWith, collectionContract, type Given, writeGiven } from '../../../test/conformance/collection.ts';
import { eventsIn, principalWith } from '../../../test/support/context.ts';
import type { Principal } from '../../kernel/principal.ts';
import { type LocalIdentity, localTag } from './documents.ts';
import { locals } from './locals.ts';
import { verifyPassword } from './passwords.ts';

const provider: Given = ['security.identity.provider', 'local', { type: 'Local', name: 'local', enabled: true }];

collectionContract(locals, {
  valid: { identifier: 'eve@example.org', email: 'eve@example.org', name: 'Eve', password: 'correct horse' },
  shown: { identifier: 'eve@example.org', email: 'eve@example.org', name: 'Eve' },
  invalid: [
    {},
    { identifier: '' },
    { identifier: 'eve ' },
    { identifier: 'eve', password: 5 },
    { identifier: 'eve', password: 'x'.repeat(1001) },
  ],
  given: [provider],
});

describe('local identities', () => {
  const bench = benchWith([provider]);
  const owner = principalWith(['configuration:*']);
  const operationOf = (end: string) => locals.operations.find(({ id }) => id === `${localTag}.${end}`)!;
  const call = (end: string, input: { params?: Record<string, string>; body?: unknown }, principal: Principal | undefined = owner) =>
    bench.perform(operationOf(end), input, principal);
  const add = (body: object) => call('add', { body });
  const errorOf = (reply: { body?: unknown }) => (reply.body as { error: string }).error;
  const passwordIs = async (key: string, secret: string) => {
    const stored = await (await bench.as()).configuration.get<LocalIdentity>(localTag, key);
    return verifyPassword(stored?.body.hash, secret);
  };

  it('show no hash and record no password, wherever one looks', async () => {
    const replies = [await add({ identifier: 'eve', password: 'correct horse' })];
    replies.push(
      await call('get', { params: { identifier: 'eve' } }),
      await call('list', {}),
      await call('update', { body: { identifier: 'eve' } }),
    );
    replies.push(await call('password.set', { body: { identifier: 'eve', password: 'battery staple' } }));
    const text = JSON.stringify([replies, await eventsIn(bench.database)]);
    assert.doesNotMatch(text, /hash|argon2|horse|staple/);
  });

  it('are taken with keys that only some clients know', async () => {
    const extra = { hash: 'x', password: '', resetUUID: null, resetDate: '0000-00-00T00:00:00' };
    assert.deepEqual(Object.keys((await add({ identifier: 'eve', ...extra })).body as object).sort(), ['_id', 'identifier']);
    assert.equal(await passwordIs('eve', ''), false);
  });

  it('keep their password over an update', async () => {
    await add({ identifier: 'eve', password: 'correct horse' });
    await call('update', { body: { identifier: 'eve', name: 'Eve', password: 'other' } });
    assert.equal(await passwordIs('eve', 'correct horse'), true);
  });

  it('are not deleted by whom they are, nor is the last administrator', async () => {
    await add({ identifier: 'ada' });
    assert.equal(errorOf(await call('delete', { params: { identifier: 'ada' } })), 'SEC-PERM-008');
    await add({ identifier: 'root', password: 'x' });
    await writeGiven(bench, [
      ['security.principalinfo', 'root', { identifier: 'root', enabled: true, permissions: [{ value: 'configuration' }] }],
    ]);
    assert.equal(errorOf(await call('delete', { params: { identifier: 'root' } })), 'SEC-PERM-001');
  });

  it('need an enabled provider', async () => {
    await bench.clear();
    await writeGiven(bench, [[provider[0], provider[1], { ...provider[2], enabled: false }]]);
    for (const reply of [await add({ identifier: 'eve' }), await call('password.set', { body: { identifier: 'eve', password: 'x' } })]) {
      assert.deepEqual([reply.status, errorOf(reply)], [401, 'LOCAL-ID-009']);
    }
  });

  describe('have their password set', () => {
    beforeEach(async () => {
      await add({ identifier: 'ada', password: 'ada old' });
      await add({ identifier: 'eve' });
    });
    const set = (body: object, principal?: Principal) => call('password.set', { body }, principal);

    it('by who may manage them', async () => {
      assert.deepEqual(await set({ identifier: 'eve', password: 'new' }), { status: 204 });
      assert.equal(await passwordIs('eve', 'new'), true);
    });

    for (const identifier of [null, 'ada']) {
      it(`by themselves with the previous one (identifier ${identifier})`, async () => {
        const plain = principalWith([]);
        for (const refused of [
          { identifier, password: 'new' },
          { identifier, password: 'new', previousPassword: 'wrong' },
        ]) {
          const reply = await set(refused, plain);
          assert.deepEqual([reply.status, errorOf(reply)], [400, 'LOCAL-ID-007']);
        }
        assert.equal((await set({ identifier, password: 'new', previousPassword: 'ada old' }, plain)).status, 204);
        assert.equal(await passwordIs('ada', 'new'), true);
      });
    }

    it('not without the previous one, whatever the right', async () => {
      assert.equal(errorOf(await set({ password: 'new' }, owner)), 'LOCAL-ID-007');
    });

    it('not by others, who do not learn either whether the account exists', async () => {
      const replies = [];
      for (const identifier of ['eve', 'nobody']) replies.push(await set({ identifier, password: 'new' }, principalWith([])));
      assert.deepEqual(replies[0], replies[1]);
      assert.equal(errorOf(replies[0]!), 'SEC-PERM-001');
    });

    it('not where there is no account, no password or no local login', async () => {
      assert.equal(errorOf(await set({ identifier: 'nobody', password: 'new' })), 'LOCAL-ID-003');
      assert.equal(errorOf(await set({ identifier: 'eve', password: '' })), 'LOCAL-ID-007');
      const elsewhere: Principal = { ...principalWith([]), provider: { type: 'X509', name: 'x509' } };
      assert.equal(errorOf(await set({ password: 'new', previousPassword: 'ada old' }, elsewhere)), 'LOCAL-ID-005');
    });
  });
});
