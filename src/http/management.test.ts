import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { type ReadinessCheck, startManagement } from './management.ts';

const registry = new Registry();
new Gauge({ name: 'perennial_test', help: 'A gauge.', registers: [registry] }).set(7);

let started = 0;
let check: ReadinessCheck = async () => {};
const database: ReadinessCheck = () => {
  started += 1;
  return check();
};

const management = await startManagement({ host: '127.0.0.1', port: 0, ready: { database }, registry });
after(() => management.close());

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(`http://127.0.0.1:${management.port}${path}`, init);

test('/live answers while the process runs', async () => {
  assert.equal((await get('/live')).status, 200);
  const head = await get('/live', { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
});

test('/ready says which check fails and why', async () => {
  const good = await get('/ready');
  assert.deepEqual([good.status, await good.json()], [200, { ready: true, checks: { database: 'ok' } }]);
  const reasons: readonly (readonly [ReadinessCheck, string])[] = [
    [() => Promise.reject(new Error('connect ECONNREFUSED\nmore')), 'connect ECONNREFUSED'],
    [() => Promise.reject(new AggregateError([])), 'failed'],
    [
      () => {
        throw new Error('at once');
      },
      'at once',
    ],
  ];
  for (const [failing, words] of reasons) {
    check = failing;
    const bad = await get('/ready?verbose');
    assert.deepEqual([bad.status, await bad.json()], [503, { ready: false, checks: { database: words } }]);
  }
});

test('/ready does not wait for a check that hangs, nor start it twice', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  check = () => promise;
  started = 0;
  const bodies = await Promise.all([get('/ready'), get('/ready')].map(async (answer) => (await answer).json()));
  for (const body of bodies) assert.deepEqual(body, { ready: false, checks: { database: 'no answer within 2 s' } });
  assert.equal(started, 1);
  resolve();
  check = async () => {};
  assert.equal((await get('/ready')).status, 200);
});

test('/metrics is the text of the registry', async () => {
  const answer = await get('/metrics');
  assert.equal(answer.headers.get('content-type'), registry.contentType);
  assert.match(await answer.text(), /^perennial_test 7$/m);
});

test('everything else is unknown', async () => {
  for (const path of ['/', '/live/', '/api/v1/certificates', '/__proto__']) assert.equal((await get(path)).status, 404, path);
  assert.equal((await get('/live', { method: 'POST', body: 'x' })).status, 404);
});

test('metrics that cannot be collected answer 500, a port in use rejects', async () => {
  const broken = { contentType: Registry.PROMETHEUS_CONTENT_TYPE, metrics: () => Promise.reject(new Error('secret words')) };
  const other = await startManagement({ host: '127.0.0.1', port: 0, ready: {}, registry: broken });
  const answer = await fetch(`http://127.0.0.1:${other.port}/metrics`);
  assert.deepEqual([answer.status, await answer.text()], [500, 'failed\n']);
  await assert.rejects(startManagement({ host: '127.0.0.1', port: other.port, ready: {}, registry }), { code: 'EADDRINUSE' });
  await other.close();
});
