/** What the listener answers before an operation is reached, and what it answers bytes that are no request. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { makeRandom } from '../../test/support/context.ts';
import { type Answered, canary, startListener } from '../../test/support/listener.ts';

const listener = await startListener();
after(() => listener.close());

const ada = { 'x-api-id': 'ada', 'x-api-key': 'secret' };
const json = { 'content-type': 'application/json' };

interface Told {
  readonly status: number;
  readonly error?: string;
}
const problemOf = (answer: Answered): Told => {
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  const { error, status } = answer.json() as Told & { readonly error: string };
  assert.equal(status, answer.status);
  return { status, error };
};
const unknown: Told = { status: 404, error: 'ROUTE-001' };
const get = (url: string, headers: Readonly<Record<string, string>> = {}) => listener.call({ url, headers });

/** Answers as they follow each other on a connection; throws for what is no HTTP. */
function answersIn(text: string): { readonly status: number; readonly headers: string; readonly body: string }[] {
  const answers = [];
  for (let rest = text; rest !== ''; ) {
    const [head, status, headers] = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[A-Za-z0-9-]+: [^\r\n]*\r\n)*)\r\n/.exec(rest) ?? [];
    assert.ok(head !== undefined && headers !== undefined, `no HTTP: ${JSON.stringify(rest)}`);
    // What Node itself refuses comes in chunks, of which there are none.
    const isChunked = /^transfer-encoding: chunked\r$/im.test(headers);
    const length = isChunked ? 5 : Number(/^content-length: (\d+)\r$/im.exec(headers)?.[1] ?? 0);
    const body = rest.slice(head.length, head.length + length);
    assert.equal(body.length, length, 'the body is as long as was said');
    if (isChunked) assert.equal(body, '0\r\n\r\n');
    answers.push({ status: Number(status), headers, body });
    rest = rest.slice(head.length + length);
  }
  return answers;
}
const statusesOf = (text: string): number[] => answersIn(text).map(({ status }) => status);
const request = (line: string, headers: readonly string[] = ['Host: localhost'], body = ''): string =>
  [`${line} HTTP/1.1`, ...headers, 'Connection: close', '', body].join('\r\n');

describe('paths and methods', () => {
  it('answers an unknown path', async () => {
    for (const url of [
      '/',
      '/api/v1/other',
      '/api/v1/things/short',
      '/api/v1/things/%zz',
      '//api/v1/things',
      '/api/v1/things%2frun',
      '/API/V1/things',
    ])
      assert.deepEqual(problemOf(await get(url)), unknown, url);
  });

  it('names the methods of a known path', async () => {
    const id = 'f'.repeat(24);
    for (const [method, url, allow] of [
      ['PUT', '/api/v1/things', 'GET, HEAD, POST'],
      ['OPTIONS', '/api/v1/things/', 'GET, HEAD, POST'],
      ['TRACE', '/api/v1/things', 'GET, HEAD, POST'],
      ['PROPFIND', '/api/v1/things', 'GET, HEAD, POST'],
      ['QUERY', '/api/v1/things', 'GET, HEAD, POST'],
      ['GET', '/api/v1/things/run', 'POST'],
      ['HEAD', '/api/v1/things/run', 'POST'],
      ['POST', `/api/v1/things/${id}`, 'GET, HEAD, DELETE'],
    ] as const) {
      const answer = await listener.call({ method, url });
      assert.deepEqual([answer.status, answer.headers['allow']], [405, allow], `${method} ${url}`);
      if (method !== 'HEAD') assert.deepEqual(problemOf(answer), { status: 405, error: 'ROUTE-002' });
    }
  });

  it('takes a path with and without a trailing slash', async () => {
    for (const url of ['/api/v1/things', '/api/v1/things/']) assert.equal((await get(url)).body, '[]');
  });

  it('answers HEAD as GET, without the body', async () => {
    const [head] = answersIn((await listener.raw(request('HEAD /api/v1/things/csv'))).replace(/content-length: 3\r\n/i, ''));
    assert.deepEqual([head!.status, head!.body], [200, '']);
    assert.match(head!.headers, /^content-type: text\/csv\r$/im);
  });
});

describe('hosts', () => {
  it('serves what a host has the capability for; the rest is as if it did not exist', async () => {
    assert.equal((await get('/api/v1/things/events', { host: 'Events.test:443' })).status, 200);
    const missing = await get('/api/v1/other', { host: 'acme.test' });
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const answer = await listener.call({ method, url: '/api/v1/things', headers: { host: 'acme.test' } });
      assert.equal(answer.status, 404, method);
      const without = (headers: object) => ({ ...headers, date: undefined });
      assert.deepEqual(without(answer.headers), without(missing.headers));
      if (method !== 'HEAD') assert.equal(answer.body, missing.body);
    }
    assert.deepEqual(problemOf(await get('/api/v1/things', { host: 'other.test' })), unknown);
  });

  it('believes the Host header alone', async () => {
    for (const name of ['x-forwarded-host', 'forwarded', 'x-host', 'x-original-host']) {
      const value = name === 'forwarded' ? 'host=localhost' : 'localhost';
      assert.deepEqual(problemOf(await get('/api/v1/things', { host: 'acme.test', [name]: value })), unknown, name);
    }
  });

  it('takes no request that names two hosts or none', async () => {
    assert.deepEqual(statusesOf(await listener.raw(request('GET /api/v1/things', ['Host: localhost', 'Host: localhost']))), [404]);
    assert.deepEqual(statusesOf(await listener.raw(request('GET /api/v1/things', ['Host: acme.test', 'Host: localhost']))), [404]);
    assert.deepEqual(statusesOf(await listener.raw(request('GET /api/v1/things', []))), [400]);
    assert.deepEqual(statusesOf(await listener.raw('GET /api/v1/things HTTP/1.0\r\n\r\n')), [404]);
    for (const host of ['', 'localhost,acme.test', 'a@localhost', 'localhost:99999', 'local host', 'localhost/'])
      assert.notEqual(statusesOf(await listener.raw(request('GET /api/v1/things', [`Host: ${host}`])))[0], 200, host);
  });

  it('takes the host of an absolute form for the one that is meant', async () => {
    const absolute = async (target: string, ...headers: string[]) => statusesOf(await listener.raw(request(`GET ${target}`, headers)));
    assert.deepEqual(await absolute('http://localhost/api/v1/things', 'Host: localhost'), [200]);
    assert.deepEqual(await absolute('http://LOCALHOST:80/api/v1/things', 'Host: acme.test'), [200]);
    assert.deepEqual(await absolute('http://acme.test/api/v1/things', 'Host: localhost'), [404]);
    assert.deepEqual(await absolute('http://a@localhost/api/v1/things', 'Host: localhost'), [404]);
    assert.deepEqual(await absolute('http://localhost/api/v1/things', 'Host: localhost', 'Host: localhost'), [404]);
  });
});

describe('limits', () => {
  it('refuses a body over the limit, of a length that is said or not', async () => {
    const headers = { ...ada, ...json };
    const long = JSON.stringify({ name: 'n'.repeat(1_000) });
    const said = await listener.call({ method: 'POST', url: '/api/v1/things', headers, payload: long });
    assert.deepEqual(problemOf(said), { status: 413, error: 'ROUTE-003' });
    const chunks = `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`;
    const lines = ['Host: localhost', 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const [unsaid] = answersIn(await listener.raw(request('POST /api/v1/things', lines, chunks)));
    assert.deepEqual([unsaid!.status, JSON.parse(unsaid!.body).error], [413, 'ROUTE-003']);
    const claimed = await listener.raw(request('POST /api/v1/things', ['Host: localhost', 'Content-Length: 99999999999']));
    assert.deepEqual(statusesOf(claimed), [413]);
  });

  it('takes a path of 16 KiB, and refuses more than it reads', async () => {
    const pem = 'A'.repeat(16 * 1024 - 100);
    const [long] = answersIn(await listener.raw(request(`GET /api/v1/things/pem/${pem}`)));
    assert.deepEqual([long!.status, JSON.parse(long!.body).pem], [200, pem]);
    assert.deepEqual(statusesOf(await listener.raw(request('GET /api/v1/things', ['Host: localhost', `X: ${'A'.repeat(33_000)}`]))), [431]);
    assert.deepEqual(statusesOf(await listener.raw(request(`GET /${'A'.repeat(40_000)}`))), [431]);
  });

  it('does not wait for a request for ever', async () => {
    const hasty = await startListener({ requestMs: 200 });
    try {
      const lines = ['Host: localhost', 'Content-Type: application/json', 'Content-Length: 100'];
      for (const slow of [request('POST /api/v1/things', lines, '{'), 'GET /api/v1/things HTTP/1.1\r\nHost: loc'])
        assert.deepEqual(statusesOf(await hasty.raw(slow, { open: true })), [408]);
      assert.equal(hasty.logged.filter((line) => JSON.parse(line).level >= 50).length, 0, 'a slow caller is no fault of ours');
    } finally {
      await hasty.close();
    }
  });
});

describe('proxies', () => {
  const from = async (trustedProxies: readonly string[], forwarded: string) => {
    const proxied = await startListener({ trustedProxies });
    try {
      const headers = { 'x-forwarded-for': forwarded, 'x-forwarded-host': 'acme.test', 'x-forwarded-proto': 'https' };
      return ((await proxied.call({ url: '/api/v1/things/who', headers })).json() as { ip: string }).ip;
    } finally {
      await proxied.close();
    }
  };

  it('are believed about the address only where they are trusted', async () => {
    assert.equal(await from([], '192.0.2.1'), '127.0.0.1');
    assert.equal(await from(['10.0.1.0/24'], '192.0.2.1'), '127.0.0.1');
    assert.equal(await from(['127.0.0.0/8'], '192.0.2.1'), '192.0.2.1');
    assert.equal(await from(['127.0.0.0/8'], '198.51.100.7, 192.0.2.1'), '192.0.2.1', 'what was said before the proxy is hearsay');
  });
});

describe('bytes that are no request', () => {
  const random = makeRandom('bytes');
  const number = (below: number): number => Buffer.from(random(4)).readUInt32BE() % below;
  const good = Buffer.from(
    request('POST /api/v1/things', ['Host: localhost', 'Content-Type: application/json', 'Content-Length: 12'], '{"name":"n"}') +
      request('GET /api/v1/things/fail?x=%41'),
  );
  const pieces = [
    '\r\n',
    '\n',
    '\0',
    ' ',
    ':',
    '%',
    'Transfer-Encoding: chunked\r\n',
    'Content-Length: 3\r\n',
    '\r\n\r\n',
    'ÿþ',
    '{',
    '\t',
    'HTTP/9.9',
  ];
  const mutated = (): Uint8Array => {
    let bytes = good;
    for (let i = 0; i < 1 + number(4); i++) {
      const at = number(bytes.length);
      const piece = number(2) === 0 ? random(1 + number(6)) : Buffer.from(pieces[number(pieces.length)]!, 'latin1');
      bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at + number(8))]);
    }
    return number(10) === 0 ? bytes.subarray(0, number(bytes.length)) : bytes;
  };

  it('are answered by HTTP or by the end of the connection, and never by what failed inside', async () => {
    const texts = await Promise.all(Array.from({ length: 200 }, () => listener.raw(mutated())));
    for (const text of texts) {
      answersIn(text);
      assert.doesNotMatch(text, new RegExp(`${canary}|node_modules|\\bat .*:\\d+|Error[:\\[]`));
    }
    assert.ok(texts.flatMap(statusesOf).includes(400), 'some were refused');
    assert.equal((await get('/api/v1/things')).status, 200, 'and the next is served');
    assert.deepEqual(
      listener.logged.filter((line) => JSON.parse(line).level >= 50 && !line.includes(canary)),
      [],
    );
  });

  it('a request within a request is none', async () => {
    const inner = request('GET /api/v1/things/csv');
    for (const headers of [
      ['Host: localhost', 'Content-Length: 4', 'Transfer-Encoding: chunked'],
      ['Host: localhost', 'Content-Length: 4', 'Content-Length: 5'],
      ['Host: localhost', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
      ['Host: localhost', 'Transfer-Encoding : chunked'],
      ['Host: localhost', 'X: a', ' Transfer-Encoding: chunked'],
    ])
      assert.ok(
        !statusesOf(await listener.raw(`POST /api/v1/things/run HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n0\r\n\r\n${inner}`)).includes(
          200,
        ),
        headers.join(),
      );
  });
});
