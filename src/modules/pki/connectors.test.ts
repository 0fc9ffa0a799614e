import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { benchWith, collectionContract } from '../../../test/conformance/collection.ts';
import { sampleOrder } from '../../../test/conformance/pki-connector.ts';
import { eventsIn, principalWith } from '../../../test/support/context.ts';
import { pkiConnectorTypes } from '../../connectors/pki/index.ts';
import type { Operation } from '../../kernel/action.ts';
import { pkiModule } from './connectors.ts';
import { QueueFull, queues } from './queues.ts';

const valid = { name: 'lab', type: 'integrated', cryptoType: 'legacy', crtLifetime: '90 days', checkPop: true };
const queue = { name: 'slow', clusterWide: false, size: 1 };
const module = () => pkiModule({ types: pkiConnectorTypes, now: Date.now });

collectionContract(module().connectors, {
  valid,
  shown: { ...valid, caKey: { value: null } },
  invalid: [
    {},
    { ...valid, type: undefined },
    { ...valid, type: 'stream' },
    { ...valid, cryptoType: undefined },
    { ...valid, cryptoType: 'hybrid' },
    { ...valid, name: 'a b' },
    { ...valid, crtLifetime: '90' },
    { ...valid, crlPath: 'lab' },
    { ...valid, crlLifetime: '7 days' },
    { ...valid, retryInterval: '5 seconds' },
    { ...valid, asyncParams: { responseDelay: '1 second', certificateCacheDuration: '1 day' } },
    { ...valid, caKey: { value: 'nonsense' } },
    { ...valid, caCert: 'nonsense' },
    { ...valid, signAlg: 'SHA1WITHECDSA' },
    { ...valid, queue: 'unknown' },
  ],
});

describe('PKI connectors', () => {
  const owner = principalWith(['configuration:*']);
  const { connectors, openConnector } = module();
  const bench = benchWith([['pki.queue', 'slow', queue]]);
  const operation = (id: string): Operation => connectors.operations.find((one) => one.id === `pki.connector.${id}`)!;
  const call = async (id: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }> => {
    const { status, body: answer } = await bench.perform(operation(id), { body, params: { name: 'lab' } }, owner);
    return { status, body: answer as Record<string, unknown> };
  };
  const pem = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

  it('never show a key, in answers, documents or events', async () => {
    const key = pem();
    const { body } = await call('add', { ...valid, caKey: key });
    assert.deepEqual(body['caKey'], { value: null });
    assert.match(String(body['caCert']), /^-----BEGIN CERTIFICATE-----/);
    const documents = await bench.database.rows({ text: 'select body from document' });
    const written = JSON.stringify([body, documents, await eventsIn(bench.database), await call('get', undefined)]);
    for (const line of key.split('\n').slice(1, -2)) assert.ok(!written.includes(line));
  });

  it('keep their key when what was read is sent back', async () => {
    const { body } = await call('add', { ...valid, caKey: { value: pem() } });
    const again = await call('update', { ...body, crtLifetime: '30 days' });
    assert.deepEqual(again, { status: 200, body: { ...body, crtLifetime: '30 days' } });
    const other = await call('update', { ...body, caKey: { value: pem() } });
    assert.equal(other.body['error'], 'PKI-CONNECTOR-002');
    assert.match(String(other.body['detail']), /^caCert: is the certificate of another key/);
  });

  it('are refused with the name of the field', async () => {
    const details = async (differing: object) => (await call('add', { ...valid, ...differing })).body['detail'];
    assert.equal(await details({ crlPath: 'lab' }), "'crlPath' is not available yet");
    assert.equal(await details({ cryptoType: 'pqc' }), "cryptoType: 'pqc' is not available yet");
    assert.equal(await details({ caKey: { value: 'x' } }), 'A private key is expected as PEM');
    assert.equal(await details({ queue: 'unknown' }), "pki.queue 'unknown' does not exist");
  });

  it('hold their queue', async () => {
    await call('add', { ...valid, queue: 'slow' });
    const release = queues.operations.find(({ id }) => id === 'pkiqueue.delete')!;
    const { status, body } = await bench.perform(release, { params: { name: 'slow' } }, owner);
    assert.deepEqual([status, (body as { error: string }).error], [400, 'PKI-QUEUE-005']);
  });

  it('are opened once and again after a change', async () => {
    await call('add', valid);
    const context = await bench.as(owner);
    const opened = await openConnector('lab', context);
    assert.equal(await openConnector('lab', context), opened);
    assert.deepEqual([opened.name, opened.type], ['lab', 'integrated']);
    const order = sampleOrder();
    const issued = await opened.issue(order, await opened.prepare(order));
    assert.equal(issued.state, 'issued');
    await call('delete', undefined);
    await assert.rejects(openConnector('lab', await bench.as(owner)), /PKI-CONNECTOR-003/);
  });

  it('take one order at a time where the queue says so', async () => {
    await call('add', { ...valid, queue: 'slow' });
    const { prepare, issue } = await openConnector('lab', await bench.as(owner));
    const [one, other] = [sampleOrder(), sampleOrder()];
    const prepared = await prepare(one);
    await assert.rejects(prepare(other), QueueFull);
    await issue(one, prepared);
    await issue(other, await prepare(other));
  });
});
