import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { writeGiven } from '../../../test/conformance/collection.ts';
import { type Bench, eventsIn, openBench, principalWith } from '../../../test/support/context.ts';
import { ServiceError } from '../../kernel/errors.ts';
import type { Credentials } from '../../kernel/principal.ts';
import { type Authenticate, createAuthenticator } from './authenticator.ts';
import { bootstrap } from './bootstrap.ts';
import { localTag } from './documents.ts';
import { locals } from './locals.ts';
import { principalInfos } from './principal-infos.ts';

describe('logins', () => {
  let bench: Bench;
  let authenticate: Authenticate;
  let delays: number[];
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());
  beforeEach(async () => {
    await bench.clear();
    await bootstrap(await bench.as(), bench.performer, { password: 'root secret' });
    await perform('add', { identifier: 'eve', password: 'correct horse' });
    await bench.database.writers.query('delete from event_pending');
    delays = [];
    authenticate = createAuthenticator({ note: bench.performer.note, delay: async (ms) => void delays.push(ms) });
  });
  const owner = principalWith(['configuration:*']);
  const perform = (end: string, body: object) =>
    bench.perform(locals.operations.find(({ id }) => id === `${localTag}.${end}`)!, { body }, owner);
  const eve: Credentials = { apiId: 'eve', apiKey: 'correct horse' };
  const login = async (credentials: Credentials, ip = '192.0.2.1') => authenticate(credentials, await bench.as(undefined, ip));
  const codeOf = async (credentials: Credentials, ip?: string): Promise<string> =>
    login(credentials, ip).then(
      () => 'in',
      (error: unknown) => (error instanceof ServiceError ? error.kind.code : String(error)),
    );
  const statuses = async () => (await eventsIn(bench.database)).map(({ code, status }) => [code, status]);

  it('are not needed: without credentials the caller is nobody', async () => {
    assert.equal((await login({})).identifier, undefined);
    assert.equal((await login({ provider: 'whatever' })).identifier, undefined);
    assert.deepEqual(await statuses(), []);
  });

  it('give a principal its direct permissions and those of its roles', async () => {
    await writeGiven(bench, [
      [
        'security.role',
        'operators',
        { name: 'operators', permissions: [{ value: 'configuration:pki' }, { value: 'configuration:ca:audit' }] },
      ],
      [
        'security.principalinfo',
        'eve',
        { identifier: 'eve', enabled: true, roles: ['operators'], permissions: [{ value: 'configuration:ca:audit' }] },
      ],
    ]);
    const principal = await login(eve);
    assert.deepEqual(principal.provider, { type: 'Local', name: 'local' });
    assert.deepEqual(
      [principal.identifier, principal.roles, principal.permissions.map(({ value }) => value)],
      ['eve', ['operators'], ['configuration:ca:audit', 'configuration:pki']],
    );
    assert.ok(principal.grant('configuration:pki:manage'));
    assert.equal(principal.grant('configuration:ca:manage'), undefined);
  });

  it('need no principal info, and then give no right', async () => {
    const principal = await login(eve);
    assert.deepEqual([principal.identifier, principal.permissions], ['eve', []]);
  });

  for (const [what, credentials, code] of [
    ['a wrong secret', { apiId: 'eve', apiKey: 'wrong' }, 'SEC-AUTH-002'],
    ['an unknown identifier', { apiId: 'Eve', apiKey: 'correct horse' }, 'SEC-AUTH-002'],
    ['no secret', { apiId: 'eve' }, 'SEC-AUTH-002'],
    ['an empty secret', { apiId: 'eve', apiKey: '' }, 'SEC-AUTH-002'],
    ['no identifier', { apiKey: 'correct horse' }, 'SEC-AUTH-002'],
    ['an unknown provider', { ...eve, provider: 'ldap' }, 'SEC-AUTH-007'],
    ['an overlong identifier', { apiId: 'e'.repeat(16_000), apiKey: 'x' }, 'SEC-AUTH-002'],
  ] as const) {
    it(`are refused for ${what}, with an event`, async () => {
      assert.equal(await codeOf(credentials), code);
      assert.deepEqual(await statuses(), [['SEC-AUTHENTICATION', 'failure']]);
    });
  }

  it('may name the provider', async () => assert.equal(await codeOf({ ...eve, provider: 'local' }), 'in'));

  it('are refused where the account has no password, the info bars it, or the provider is disabled', async () => {
    await perform('add', { identifier: 'bob' });
    assert.equal(await codeOf({ apiId: 'bob', apiKey: '' }), 'SEC-AUTH-002');
    assert.equal(await codeOf({ apiId: 'bob', apiKey: 'x' }), 'SEC-AUTH-002');
    assert.equal(await codeOf(eve), 'in');
    await writeGiven(bench, [['security.principalinfo', 'eve', { identifier: 'eve', enabled: false }]]);
    assert.equal(await codeOf(eve), 'SEC-AUTH-002');
    await bench.database.writers.query(`update document set body = jsonb_set(body, '{enabled}', 'false') where key = 'local'`);
    assert.equal(await codeOf(eve), 'SEC-AUTH-002');
    assert.equal(await codeOf({ ...eve, provider: 'local' }), 'SEC-AUTH-007');
  });

  it('are recorded once for the life of a session', async () => {
    for (let i = 0; i < 3; i++) await login(eve);
    assert.deepEqual(await statuses(), [['SEC-AUTHENTICATION', 'success']]);
    bench.clock.move(15 * 60_000);
    await Promise.all([login(eve), login(eve)]);
    assert.equal((await statuses()).length, 2);
  });

  it('that show the same at the same time are verified and recorded once', async () => {
    // More than may wait for a verification of their own.
    await Promise.all(Array.from({ length: 500 }, () => login(eve)));
    assert.equal((await statuses()).length, 1);
  });

  it('are not believed when they cannot be recorded', async () => {
    const failing = createAuthenticator({
      note: async () => {
        throw new Error('no database');
      },
    });
    for (let i = 0; i < 2; i++) await assert.rejects(failing(eve, await bench.as()), /no database/);
  });

  it('end at once when the password changes, the account goes, or another takes its name', async () => {
    assert.equal(await codeOf(eve), 'in');
    await perform('password.set', { identifier: 'eve', password: 'battery staple' });
    assert.equal(await codeOf(eve), 'SEC-AUTH-002');
    const now: Credentials = { apiId: 'eve', apiKey: 'battery staple' };
    assert.equal(await codeOf(now), 'in');
    const remove = locals.operations.find(({ method }) => method === 'DELETE')!;
    await bench.perform(remove, { params: { identifier: 'eve' } }, owner);
    assert.equal(await codeOf(now), 'SEC-AUTH-002');
    await perform('add', { identifier: 'eve', password: 'another' });
    await perform('password.set', { identifier: 'eve', password: 'yet another' });
    assert.equal(await codeOf(now), 'SEC-AUTH-002');
  });

  it('follow a change of rights at once', async () => {
    assert.equal((await login(eve)).grant('configuration:ca:audit'), undefined);
    const create = principalInfos.operations.find(({ method }) => method === 'POST')!;
    await bench.perform(create, { body: { identifier: 'eve', permissions: [{ value: 'configuration' }] } }, owner);
    assert.ok((await login(eve)).grant('configuration:ca:audit'));
  });

  it('fail more slowly each time, the same for whom there is and there is not', async () => {
    for (const apiId of ['eve', 'nobody']) {
      delays = [];
      for (let i = 0; i < 9; i++) await codeOf({ apiId, apiKey: `wrong ${i}` }, apiId === 'eve' ? '192.0.2.1' : '192.0.2.2');
      assert.deepEqual(delays, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000], apiId);
    }
  });

  it('are refused after ten failures, for fifteen minutes', async () => {
    for (let i = 0; i < 10; i++) assert.equal(await codeOf({ apiId: 'eve', apiKey: `wrong ${i}` }), 'SEC-AUTH-002');
    assert.equal(await codeOf(eve), 'ROUTE-005');
    bench.clock.move(15 * 60_000);
    assert.equal(await codeOf(eve), 'in');
  });

  it('with a secret that was right before pass whatever others tried', async () => {
    assert.equal(await codeOf(eve), 'in');
    for (let i = 0; i < 10; i++) await codeOf({ apiId: 'eve', apiKey: `wrong ${i}` });
    assert.equal(await codeOf({ apiId: 'eve', apiKey: 'wrong' }), 'ROUTE-005');
    assert.equal(await codeOf(eve), 'in');
    bench.clock.move(15 * 60_000);
    for (let i = 0; i < 10; i++) await codeOf({ apiId: 'eve', apiKey: `wrong ${i}` });
    assert.equal(await codeOf(eve), 'in');
  });

  it('are counted as they begin, so that a burst is no way around', async () => {
    const codes = await Promise.all(Array.from({ length: 40 }, (_, i) => codeOf({ apiId: 'eve', apiKey: `wrong ${i}` })));
    assert.equal(codes.filter((code) => code === 'SEC-AUTH-002').length, 10);
    assert.equal(codes.filter((code) => code === 'ROUTE-005').length, 30);
  });

  it('never lock an administrator out', async () => {
    for (let i = 0; i < 15; i++) assert.equal(await codeOf({ apiId: 'administrator', apiKey: `wrong ${i}` }), 'SEC-AUTH-002');
    assert.equal(delays.at(-1), 5000);
    assert.equal(await codeOf({ apiId: 'administrator', apiKey: 'root secret' }), 'in');
  });

  it('cost little once the secret was proved', async () => {
    const context = await bench.as();
    await authenticate(eve, context);
    const began = performance.now();
    for (let i = 0; i < 1000; i++) await authenticate(eve, context);
    assert.ok((performance.now() - began) / 1000 < 0.5, 'milliseconds a call');
  });
});
