import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { benchWith, type Given, writeGiven } from '../../../test/conformance/collection.ts';
import { principalWith } from '../../../test/support/context.ts';
import type { Reply } from '../../kernel/action.ts';
import { includes } from '../../kernel/permission.ts';
import type { Permission, Principal } from '../../kernel/principal.ts';
import { locals } from './locals.ts';
import { principalInfos } from './principal-infos.ts';
import { localPrincipal } from './principals.ts';
import { roles } from './roles.ts';

const access = 'configuration:security:access-management';
const values = (...permissions: readonly string[]) => permissions.map((value) => ({ value }));
const boss: readonly Given[] = [
  ['security.identity.provider', 'local', { type: 'Local', name: 'local', enabled: true }],
  ['security.role', 'rulers', { name: 'rulers', permissions: values('configuration:*', 'lifecycle:*', 'discovery:*') }],
  ['security.principalinfo', 'boss', { identifier: 'boss', enabled: true, roles: ['rulers'] }],
  ['security.identity.local', 'boss', { identifier: 'boss', hash: 'x' }],
];

describe('who may manage accounts and rights', () => {
  const bench = benchWith(boss);
  const manager = principalWith([`${access}:*`, 'configuration:ca:manage'], 'eve');
  const call = (id: string, body: object, principal: Principal = manager): Promise<Reply> =>
    bench.perform(
      [...roles.operations, ...principalInfos.operations, ...locals.operations].find((operation) => operation.id === id)!,
      { body },
      principal,
    );
  const answers = async (id: string, body: object, principal?: Principal) => {
    const reply = await call(id, body, principal);
    return (reply.body as { error?: string } | undefined)?.error ?? reply.status;
  };

  it('gives what they hold', async () => {
    assert.equal(await answers('security.role.add', { name: 'r', permissions: values('configuration:ca:audit', `${access}:role:*`) }), 201);
    assert.equal(await answers('security.principal.info.add', { identifier: 'bob', roles: ['r'], permissions: values(access) }), 201);
    assert.equal(await answers('security.identity.local.add', { identifier: 'bob', password: 'x' }), 201);
    assert.equal(await answers('security.identity.local.password.set', { identifier: 'bob', password: 'y' }), 204);
  });

  it('gives nothing else: in a role, directly or by giving a role', async () => {
    for (const permission of ['lifecycle:*', 'configuration', 'configuration:ca:*', '*'])
      for (const [id, body] of [
        ['security.role.add', { name: 'r', permissions: values(permission) }],
        ['security.principal.info.add', { identifier: 'bob', permissions: values(permission) }],
      ] as const)
        assert.equal(await answers(id, body), 'SEC-PERM-001', `${id} ${permission}`);
    assert.equal(await answers('security.principal.info.add', { identifier: 'bob', roles: ['rulers'] }), 'SEC-PERM-001');
    await call('security.principal.info.add', { identifier: 'bob' });
    assert.equal(await answers('security.principal.info.update', { identifier: 'bob', roles: ['rulers'] }), 'SEC-PERM-001');
  });

  it('leaves what others have given', async () => {
    const permissions = values('configuration:*', 'lifecycle:*', 'discovery:*');
    assert.equal(await answers('security.role.update', { name: 'rulers', description: 'who rules', permissions }), 200);
    assert.equal(await answers('security.principal.info.update', { identifier: 'boss', contact: 'b@x', roles: ['rulers'] }), 200);
    assert.equal(await answers('security.role.update', { name: 'rulers', permissions: [...permissions, ...values('*')] }), 'SEC-PERM-001');
  });

  it('makes themselves no login to an account that may do more', async () => {
    assert.equal(await answers('security.identity.local.password.set', { identifier: 'boss', password: 'x' }), 'SEC-PERM-001');
    await writeGiven(bench, [['security.principalinfo', 'CN=chief', { identifier: 'CN=chief', enabled: false, permissions: values('*') }]]);
    assert.equal(await answers('security.identity.local.add', { identifier: 'CN=chief', password: 'x' }), 'SEC-PERM-001');
    assert.equal(await answers('security.identity.local.add', { identifier: 'CN=chief' }), 201);
    assert.equal(await answers('security.identity.local.password.set', { identifier: 'CN=chief', password: 'x' }), 'SEC-PERM-001');
  });

  it('ends with no account that can be entered and may do more, whatever they do', async () => {
    const permission = fc.constantFrom('configuration:ca:audit', 'lifecycle:*', `${access}:*`, 'configuration:*', 'lifecycle:webra,acme');
    const role = fc.constantFrom('rulers', 'r1', 'r2');
    const account = fc.constantFrom('boss', 'bob', 'mallory', 'eve');
    const permissions = fc.array(permission, { maxLength: 2 }).map((list) => values(...list));
    const write = fc.constantFrom('add', 'update');
    const act = fc.oneof(
      fc.tuple(
        write.map((verb) => `security.role.${verb}`),
        fc.record({ name: role, permissions }),
      ),
      fc.tuple(
        write.map((verb) => `security.principal.info.${verb}`),
        fc.record({ identifier: account, permissions, roles: fc.array(role, { maxLength: 2 }) }),
      ),
      fc.tuple(fc.constant('security.identity.local.add'), fc.record({ identifier: account, password: fc.constant('x') })),
      fc.tuple(fc.constant('security.identity.local.password.set'), fc.record({ identifier: account, password: fc.constant('x') })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 6 }), async (acts) => {
        await bench.clear();
        await writeGiven(bench, boss);
        const entered = new Set<string>();
        for (const [id, body] of acts) {
          const { status } = await call(id, body);
          if (status < 300 && 'password' in body) entered.add(body.identifier);
        }
        const { configuration } = await bench.as();
        const provider = { type: 'Local', name: 'local' } as const;
        for (const identifier of entered) {
          const gained: readonly Permission[] = (await localPrincipal({ identifier }, provider, configuration))?.permissions ?? [];
          for (const { value } of gained) assert.ok(includes(manager.permissions, value), `${identifier} got ${value}`);
        }
      }),
      { numRuns: 60 },
    );
  });
});
