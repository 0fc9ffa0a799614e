/** Operations as routes: who calls, with which body, and what becomes of it on the way in and out. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { type Answered, canary, startListener } from '../../test/support/listener.ts';

let failure: Error | undefined;
const listener = await startListener({ failing: () => failure });
after(() => listener.close());

const ada = { 'x-api-id': 'ada', 'x-api-key': 'secret' };
const bob = { 'x-api-id': 'bob', 'x-api-key': 'secret' };
const json = { 'content-type': 'application/json' };
const id = 'f'.repeat(24);

const call = (method: 'GET' | 'POST' | 'DELETE', path: string, headers: Readonly<Record<string, string>> = {}, payload?: string | Buffer) =>
  listener.call({ method, url: `/api/v1/things${path}`, headers, ...(payload === undefined ? {} : { payload }) });
const told = (answer: Answered) => [answer.status, (answer.json() as { error?: string }).error];

describe('bodies', () => {
  it('what is no JSON is refused in the operation’s words, once it is known that the caller may ask', async () => {
    for (const broken of ['', '{', '{"name":"n"', 'null x', '{"name":"n"}{}', "{'name':1}", '\0'] as const) {
      assert.deepEqual(told(await call('POST', '', json, broken)), [401, 'SEC-AUTH-006'], broken);
      assert.deepEqual(told(await call('POST', '', { ...json, ...bob }, broken)), [403, 'SEC-PERM-001'], broken);
      assert.deepEqual(told(await call('POST', '', { ...json, ...ada }, broken)), [400, 'THING-002'], broken);
    }
    assert.deepEqual(told(await call('POST', '', { ...json, ...ada, 'x-api-key': 'wrong' }, '{')), [401, 'SEC-AUTH-002']);
  });

  it('are told apart by their type', async () => {
    const body = '{"name":"n"}';
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
      'application/json ; x=y',
    ])
      assert.equal((await call('POST', '', { ...ada, 'content-type': type }, body)).status, 201, type);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'application/problem+json',
      'text/json',
      'json',
      ';',
      '*/*',
    ])
      assert.deepEqual(told(await call('POST', '', { ...ada, 'content-type': type }, body)), [415, 'ROUTE-004'], type);
    assert.deepEqual(told(await call('POST', '', ada, Buffer.from(body))), [415, 'ROUTE-004'], 'none');
  });

  it('are ignored where there is nothing to read', async () => {
    for (const [method, path] of [
      ['DELETE', `/${id}`],
      ['POST', '/run'],
    ] as const)
      for (const [headers, body] of [
        [{}, undefined],
        [{}, Buffer.from('""')],
        [json, '""'],
        [json, ''],
        [json, '{'],
        [{ 'content-type': 'text/plain' }, 'x'],
      ] as const) {
        const { status, body: sent, headers: about } = await call(method, path, headers, body);
        assert.deepEqual(
          [status, sent, about['content-type']],
          [204, '', undefined],
          `${method} ${JSON.stringify([headers, String(body)])}`,
        );
      }
  });

  it('reach no prototype', async () => {
    for (const text of [
      '{"name":"n","__proto__":{"polluted":true},"inner":{"__proto__":{"polluted":true}}}',
      '{"name":"n","\\u005f_proto__":{"polluted":true},"inner":{"_\\u005Fproto__":1}}',
      '{"name":"n","constructor":{"prototype":{"polluted":true}},"inner":{"constructor":{"prototype":{}}}}',
    ]) {
      const answer = await call('POST', '', { ...json, ...ada }, text);
      assert.deepEqual([answer.status, answer.json()], [201, { received: { name: 'n', inner: {} } }], text);
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    }
  });
});

describe('what stands in the address', () => {
  it('a tail comes as it was meant, whatever was escaped', async () => {
    const pem = '-----BEGIN CERTIFICATE-----\nMII/x+y==\n-----END CERTIFICATE-----\n';
    for (const sent of [encodeURIComponent(pem), encodeURI(pem), encodeURIComponent(pem).replaceAll('%2F', '/').replaceAll('%2B', '+')])
      assert.deepEqual((await call('GET', `/pem/${sent}`)).json(), { pem }, sent);
    assert.deepEqual((await call('GET', `/pem/${encodeURIComponent(pem)}?order=ltr`)).json(), { pem });
    assert.deepEqual((await call('GET', `/pem/${encodeURIComponent(`${pem}?order=ltr`)}`)).json(), { pem: `${pem}?order=ltr` });
  });

  it('an id is taken in either case, and a query is checked before anything else is', async () => {
    assert.deepEqual((await call('GET', `/${id.toUpperCase()}`)).json(), { id: id.toUpperCase() });
    assert.deepEqual((await call('GET', '/query?n=5')).json(), { n: '5' });
    assert.deepEqual(told(await call('GET', '/query?n=x')), [400, 'THING-002']);
    assert.deepEqual(told(await call('GET', '/query?__proto__=1')), [400, 'THING-002']);
  });
});

describe('answers', () => {
  it('name their type without a charset, and are kept by nobody', async () => {
    const types = new Map([
      ['', 'application/json'],
      ['/csv', 'text/csv'],
      ['/other', 'application/problem+json'],
    ]);
    for (const [path, type] of types) {
      const { headers } = await call('GET', path);
      assert.deepEqual(
        [headers['content-type'], headers['cache-control'], headers['x-content-type-options']],
        [type, 'no-store', 'nosniff'],
      );
    }
  });

  it('say nothing of what failed inside; the log does', async () => {
    const about = async (path: string, expected: readonly unknown[]) => {
      listener.logged.length = 0;
      const answer = await call('GET', path);
      assert.deepEqual(told(answer), expected);
      assert.doesNotMatch(answer.body + JSON.stringify(answer.headers), new RegExp(`${canary}|\\.ts|stack|"detail"`));
      assert.match(listener.logged.join(''), new RegExp(canary), 'it is logged');
    };
    await about('/fail', [500, 'THING-001']);
    await about('/outage', [503, 'ROUTE-006']);
    failure = new Error(canary);
    await about('', [500, 'SEC-AUTH-001']);
    failure = Object.assign(new Error(canary), { code: 'database-unavailable' });
    await about('', [503, 'ROUTE-006']);
    failure = undefined;
  });

  it('leave one line in the log, without what the caller wrote', async () => {
    listener.logged.length = 0;
    await call('GET', `/pem/${canary}?${canary}=1`, { ...ada, 'user-agent': canary });
    const lines = listener.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      lines.map(({ msg, method, path, status, principal }) => [msg, method, path, status, principal]),
      [['request', 'GET', '/api/v1/things/pem/*', 200, 'ada']],
    );
    assert.doesNotMatch(listener.logged.join(''), new RegExp(`${canary}|secret`));
  });
});
