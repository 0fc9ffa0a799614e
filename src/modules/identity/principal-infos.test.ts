import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { benchWith, collectionContract, type Given, writeGiven } from '../../../test/conformance/collection.ts';
import { principalWith } from '../../../test/support/context.ts';
import { principalInfos } from './principal-infos.ts';

const role: Given = ['security.role', 'operators', { name: 'operators', permissions: [] }];
const dashboard = { name: 'mine', type: 'certificate', charts: [{ title: 'all', type: 'pie', fields: ['owner'] }] };
const shownDashboard = { ...dashboard, charts: [{ ...dashboard.charts[0], colors: [], log: false }] };

collectionContract(principalInfos, {
  valid: {
    identifier: 'CN=Eve Example,O=Example/ACME',
    contact: 'eve@example.org',
    permissions: [{ value: 'configuration:ca:audit' }],
    roles: ['operators'],
    teams: [],
    customDashboards: [dashboard],
    preferences: { lang: 'fr' },
    enabled: true,
  },
  shown: {
    roles: ['operators'],
    customDashboards: [shownDashboard],
    preferences: { darkMode: false, expertMode: false, lang: 'fr' },
    enabled: true,
  },
  invalid: [
    {},
    { identifier: '' },
    { identifier: ' eve' },
    { identifier: 'e\u0007ve' },
    { identifier: 'e'.repeat(501) },
    { identifier: 'eve', enabled: 'yes' },
    { identifier: 'eve', roles: ['nowhere'] },
    { identifier: 'eve', teams: ['blue'] },
    { identifier: 'eve', permissions: [{ value: 'lifecycle:webra:nowhere:enroll' }] },
    { identifier: 'eve', permissions: [{ value: 'a', filter: 'team equals "a"' }] },
    { identifier: 'eve', preferences: { lang: 'de' } },
    { identifier: 'eve', customDashboards: [{ ...dashboard, charts: [{ ...dashboard.charts[0], colors: ['red'] }] }] },
  ],
  given: [role],
});

describe('principal infos', () => {
  const bench = benchWith([role]);
  const owner = principalWith(['configuration:*']);
  const operationOf = (end: string) => principalInfos.operations.find(({ id }) => id === `security.principal.info.${end}`)!;
  const call = (end: string, input: { params?: Record<string, string>; body?: unknown }, principal = owner) =>
    bench.perform(operationOf(end), input, principal);
  const errorOf = (reply: { body?: unknown }) => (reply.body as { error: string }).error;

  it('have no list', () => assert.equal(operationOf('list'), undefined));

  it('are enabled unless said otherwise, and dated', async () => {
    const created = (await call('add', { body: { identifier: 'eve', roles: ['operators', 'operators'] } })).body as Record<string, unknown>;
    assert.deepEqual([created['enabled'], created['roles']], [true, ['operators']]);
    bench.clock.move(5_000);
    const updated = (await call('update', { body: { identifier: 'eve', enabled: false } })).body as Record<string, number>;
    assert.equal(updated['creationDate'], created['creationDate']);
    assert.equal(updated['lastModification']! - updated['creationDate']!, 5_000);
    assert.equal(updated['roles'], undefined);
  });

  it('keep what is personal where an update does not name it', async () => {
    const preferences = { darkMode: true, expertMode: false };
    await call('add', { body: { identifier: 'eve', preferences, customDashboards: [dashboard] } });
    const { body } = await call('update', { body: { identifier: 'eve', customDashboards: [], preferences: null } });
    const { preferences: kept, customDashboards } = body as Record<string, unknown>;
    assert.deepEqual([kept, customDashboards], [preferences, []]);
  });

  it('are not changed or deleted by whom they are about', async () => {
    await call('add', { body: { identifier: 'ada' } });
    for (const reply of [await call('update', { body: { identifier: 'ada' } }), await call('delete', { params: { identifier: 'ada' } })]) {
      assert.deepEqual([reply.status, errorOf(reply)], [403, 'SEC-PERM-001']);
      assert.match((reply.body as { detail: string }).detail, /their own/);
    }
  });

  it('of the last administrator stay', async () => {
    await call('add', { body: { identifier: 'root', permissions: [{ value: 'configuration:*' }] } });
    await writeGiven(bench, [['security.identity.local', 'root', { identifier: 'root', hash: 'x' }]]);
    assert.equal(
      (await call('update', { body: { identifier: 'root', permissions: [{ value: 'configuration:*' }], enabled: false } })).status,
      403,
    );
    assert.equal((await call('delete', { params: { identifier: 'root' } })).status, 403);
  });

  describe('are searched', () => {
    beforeEach(async () => {
      await call('add', { body: { identifier: 'eve', contact: 'eve@example.org', roles: ['operators'] } });
      await call('add', { body: { identifier: 'Eveline', contact: 'e2@example.org' } });
      await call('add', { body: { identifier: 'bob', contact: 'bob@example.com' } });
    });
    const found = async (body: unknown) => {
      const reply = await call('search', { body });
      return (reply.body as { results: { identifier: string }[] }).results.map(({ identifier }) => identifier);
    };
    for (const [body, expected] of [
      [{}, ['Eveline', 'bob', 'eve']],
      [{ identifier: 'EVE' }, ['Eveline', 'eve']],
      [{ identifier: 'eve', strictSearch: true }, ['eve']],
      [{ identifier: 'bob', role: 'oper' }, ['bob', 'eve']],
      [{ role: 'oper', strictSearch: true }, []],
      [{ contact: 'EXAMPLE.ORG', strictSearch: true }, ['Eveline', 'eve']],
      [{ team: 'blue' }, []],
      [{ sortedBy: [{ element: 'contact', order: 'Desc' }] }, ['eve', 'Eveline', 'bob']],
      [{ pageSize: 2, pageIndex: 2 }, ['eve']],
      [{ identifier: null, contact: 'bob' }, ['bob']],
    ] as const) {
      it(JSON.stringify(body), async () => assert.deepEqual(await found(body), expected));
    }

    it('in pages, with a count when asked, without keys that the contract lacks', async () => {
      const { body } = await call('search', { body: { pageSize: 1, withCount: true, identifier: 'eve', strictSearch: true } });
      const { results, ...page } = body as { results: Record<string, unknown>[] };
      assert.deepEqual(page, { pageIndex: 1, pageSize: 1, count: 1, hasMore: false });
      assert.deepEqual(JSON.parse(JSON.stringify(results)), [
        { identifier: 'eve', contact: 'eve@example.org', roles: ['operators'], enabled: true },
      ]);
    });

    it('with their own error for a bad query', async () => {
      for (const body of [{ pageSize: 0 }, { pageIndex: 'x' }, { sortedBy: [{ element: 'hash', order: 'Asc' }] }]) {
        const reply = await call('search', { body });
        assert.deepEqual([reply.status, errorOf(reply)], [400, 'SEC-PI-005']);
      }
    });

    it('only by who may read them', async () => {
      assert.equal(errorOf(await call('search', { body: {} }, principalWith([]))), 'SEC-PERM-001');
    });
  });
});
