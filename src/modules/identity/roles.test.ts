import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { benchWith, collectionContract, type Given, writeGiven } from '../../../test/conformance/collection.ts';
import { principalWith } from '../../../test/support/context.ts';
import type { Stored } from '../../kernel/configuration.ts';
import { type PrincipalInfo, principalInfoDocuments } from './documents.ts';
import { withoutProfile } from './permissions.ts';
import { principalInfos } from './principal-infos.ts';
import { roles } from './roles.ts';

const profile: Given = ['certificate.profile', 'web', { name: 'web', module: 'webra' }];
const role = (values: readonly string[], name = 'operators') => ({ name, permissions: values.map((value) => ({ value })) });

collectionContract(roles, {
  valid: {
    name: 'operators',
    description: 'who operates',
    permissions: [{ value: 'configuration:ca:audit' }, { value: 'lifecycle:webra:web:*' }],
  },
  invalid: [
    undefined,
    {},
    { name: '' },
    { name: 'with space' },
    { name: 'with.dot' },
    { name: 'x', description: 'NUL \0' },
    role(['']),
    role(['configuration::manage']),
    role(['a:b:c:d:e:f']),
    role(['lifecycle:webra:nowhere:enroll']),
    role(['lifecycle:acme:web:enroll']),
    role(['lifecycle:*:web,nowhere:enroll']),
    { name: 'x', permissions: [{ value: 'lifecycle:*', filter: 'team equals "a"' }] },
  ],
  given: [profile],
});

describe('roles', () => {
  const bench = benchWith([profile]);
  const owner = principalWith(['configuration:*', 'lifecycle:*', 'discovery:*']);
  const [create, update, remove] = ['add', 'update', 'delete'].map(
    (end) => roles.operations.find(({ id }) => id === `security.role.${end}`)!,
  );
  const createInfo = principalInfos.operations.find(({ id }) => id === 'security.principal.info.add')!;
  const infoOf = async (key: string): Promise<Stored<PrincipalInfo> | undefined> =>
    (await bench.as()).configuration.get<PrincipalInfo>(principalInfoDocuments.tag, key);

  it('keep their permissions sorted, each once', async () => {
    const values = ['lifecycle:webra:WEB:enroll', 'configuration:ca', 'lifecycle:webra:WEB:enroll', 'configuration:ca'];
    const { body } = await bench.perform(create!, { body: role(values) }, owner);
    assert.deepEqual((body as ReturnType<typeof role>).permissions, [
      { value: 'configuration:ca' },
      { value: 'lifecycle:webra:WEB:enroll' },
    ]);
  });

  it('store what is well-formed and unknown', async () => {
    assert.equal((await bench.perform(create!, { body: role(['whatever:there:may:be']) }, owner)).status, 201);
  });

  it('are taken from their holders when they are deleted, in one commit', async () => {
    for (const name of ['one', 'two']) await bench.perform(create!, { body: role([], name) }, owner);
    for (const identifier of ['eve', 'bob']) {
      const reply = await bench.perform(createInfo, { body: { identifier, roles: ['one', 'two'], enabled: true } }, owner);
      assert.equal(reply.status, 201);
    }
    const reply = await bench.perform(remove!, { params: { name: 'one' } }, owner);
    assert.deepEqual(reply, { status: 204 });
    assert.deepEqual([(await infoOf('eve'))?.body.roles, (await infoOf('bob'))?.body.roles], [['two'], ['two']]);
    assert.equal((await infoOf('eve'))?.revision, 2);
  });

  it('cannot be deleted while something else refers to them', async () => {
    await bench.perform(create!, { body: role([]) }, owner);
    await writeGiven(bench, [['security.scim', 'mapping', {}]]);
    await bench.database.writers.query(`insert into reference values ('security.scim', 'mapping', 'security.role', 'operators')`);
    const reply = await bench.perform(remove!, { params: { name: 'operators' } }, owner);
    assert.deepEqual([reply.status, (reply.body as { error: string }).error], [400, 'ROLE-002']);
    assert.match((reply.body as { detail: string }).detail, /security\.scim\/mapping/);
  });

  it('that make the last administrator stay as they are', async () => {
    await bench.perform(create!, { body: role(['configuration:*']) }, owner);
    await bench.perform(createInfo, { body: { identifier: 'root', roles: ['operators'], enabled: true } }, owner);
    await writeGiven(bench, [['security.identity.local', 'root', { identifier: 'root', hash: 'x' }]]);
    assert.equal((await bench.perform(update!, { body: role(['configuration:ca']) }, owner)).status, 403);
    assert.equal((await bench.perform(remove!, { params: { name: 'operators' } }, owner)).status, 403);
    assert.equal((await bench.perform(update!, { body: role(['configuration']) }, owner)).status, 200);
  });

  it('lose what names a profile that goes', async () => {
    const values = ['lifecycle:webra:web:enroll', 'lifecycle:*', 'lifecycle:webra:Web,web2:enroll', 'configuration:ca'];
    await writeGiven(bench, [['certificate.profile', 'web2', { name: 'web2', module: 'webra' }]]);
    await bench.perform(create!, { body: role(values) }, owner);
    const context = await bench.as();
    await bench.commit(await withoutProfile('web', context));
    const left = await (await bench.as()).configuration.get<ReturnType<typeof role>>('security.role', 'operators');
    assert.deepEqual(left?.body.permissions.map(({ value }) => value).sort(), [
      'configuration:ca',
      'lifecycle:*',
      'lifecycle:webra:web2:enroll',
    ]);
  });
});
