import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHmacSha512 } from './hmac.ts';
import { createSeals, detailsText, type EventRecord, fitting } from './seals.ts';

const secret = Buffer.from('a secret of these tests, no other');
const seals = createSeals(secret);
const record: EventRecord = {
  id: '0123456789abcdef01234567',
  code: 'CONF-ADD',
  module: 'configuration',
  node: 'node-1',
  status: 'success',
  at: 1,
  details: '{"name": "lab"}',
};

test('the HMAC is that of node:crypto, for every length of key and text', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc.integer({ min: 5_000, max: 20_000 }).map((length) => 'é'.repeat(length)),
  );
  fc.assert(
    fc.property(bytes, fc.array(text, { minLength: 1, maxLength: 3 }), (key, texts) => {
      const hmac = createHmacSha512(key);
      for (const one of texts) assert.equal(hmac(one), createHmac('sha512', key).update(one).digest('hex'));
    }),
    { numRuns: 100 },
  );
});

test('no two records are sealed alike', () => {
  const part = fc.string({ unit: fc.constantFrom('1', ':', '2', 'a'), maxLength: 4 });
  const any = fc.record({ id: part, code: part, module: part, node: part, status: part, at: fc.nat(12), details: part });
  fc.assert(
    fc.property(any, any, (one, other) => {
      assert.equal(seals.pending(one) === seals.pending(other), JSON.stringify(one) === JSON.stringify(other));
    }),
    { numRuns: 2_000 },
  );
});

test('a seal is good for one number, one predecessor and one kind of record', () => {
  const made = [
    seals.pending(record),
    seals.event(1, record, ''),
    seals.event(2, record, ''),
    seals.event(1, record, 'a'),
    seals.head({ number: 1, seal: 'a' }),
  ];
  assert.equal(new Set(made).size, made.length);
  assert.ok(made.every((seal) => /^[0-9a-f]{128}$/.test(seal)));
  assert.notEqual(createSeals(Buffer.alloc(32)).pending(record), seals.pending(record));
});

test('details that a database prints differently are the same details, and others are not', () => {
  const mac = seals.pending({ ...record, details: detailsText({ name: 'lab', actorId: 'a' }) });
  const fits = (details: string) => fitting({ ...record, details }, (one) => seals.pending(one) === mac)?.details;
  assert.equal(fits('{"actorId":"a","name":"lab"}'), '{"name": "lab", "actorId": "a"}');
  for (const details of ['{"name": "lab"}', '{"name": "lab", "actorId": ["a"]}', '[]', 'null', '"x"', '{"name": 1, "actorId": "a"}']) {
    assert.equal(fits(details), undefined, details);
  }
});
