import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type Bench, eventsIn, openBench } from '../../../test/support/context.ts';
import { createAuthenticator } from './authenticator.ts';
import { bootstrap } from './bootstrap.ts';

describe('the first start', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());
  beforeEach(() => bench.clear());
  const start = async (password?: string) => bootstrap(await bench.as(), bench.performer, { password });
  const login = async (apiKey: string) =>
    createAuthenticator({ note: bench.performer.note })({ apiId: 'administrator', apiKey }, await bench.as());

  it('makes an administrator with a generated secret, who may do everything', async () => {
    const { created, password } = await start();
    assert.ok(created);
    assert.match(password!, /^[0-9A-Za-z_-]{24}$/);
    const events = (await eventsIn(bench.database)).map(({ code, module, status }) => [code, module, status]);
    assert.deepEqual(events, [
      ['BOOTSTRAP-ADMINISTRATOR-ACCOUNT', 'bootstrap', 'success'],
      ['BOOTSTRAP-LOCAL-IDENTITY-PROVIDER', 'bootstrap', 'success'],
      ['BOOTSTRAP-ADMINISTRATOR-PRINCIPAL', 'bootstrap', 'success'],
    ]);
    const principal = await login(password!);
    assert.deepEqual(
      principal.permissions.map(({ value }) => value),
      ['configuration:*', 'discovery:*', 'lifecycle:*'],
    );
    assert.ok(principal.grant('lifecycle:webra:web:approve_enroll'));
  });

  it('takes the secret that is given and does not repeat it', async () => {
    assert.deepEqual(await start('a chosen secret'), { created: true });
    assert.equal((await login('a chosen secret')).identifier, 'administrator');
  });

  it('happens once, also when several processes start at once, and leaves no trace afterwards', async () => {
    const started = await Promise.all([start('first'), start('second'), start('third')]);
    assert.equal(started.filter(({ created }) => created).length, 1);
    const count = (await eventsIn(bench.database)).length;
    assert.deepEqual(await start('fourth'), { created: false });
    assert.equal((await eventsIn(bench.database)).length, count);
  });

  it('says so when it fails', async () => {
    await assert.rejects(start(''), /could not be made/);
  });
});
