import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeBase64, encodePem, parsePem } from './pem.ts';

test('PEM round-trips, whatever the lines', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.constantFrom(1, 64, 76, 10_000),
      fc.constantFrom('\n', '\r\n'),
      (der, width, end) => {
        const base64 = Buffer.from(der)
          .toString('base64')
          .replace(new RegExp(`.{1,${width}}`, 'g'), `$&${end}`);
        const text = `subject=x${end}-----BEGIN A-----${end}${base64}-----END A-----${end}after`;
        assert.deepEqual(parsePem(text), [{ label: 'A', der }]);
        assert.deepEqual(parsePem(encodePem('A B', der) + encodePem('C', der)), [
          { label: 'A B', der },
          { label: 'C', der },
        ]);
      },
    ),
  );
  assert.equal(encodePem('X', new Uint8Array(100)).split('\n')[1]!.length, 64);
  assert.deepEqual(parsePem('nothing'), []);
});

test('refused: no end, other end, bad base64, bad label, too long', () => {
  const bad = ['-----BEGIN A-----\nAAAA', '-----BEGIN A-----\nAAAA\n-----END B-----', '-----BEGIN a-----\nAAAA\n-----END a-----'];
  const bodies = ['', 'AAA', 'AAB=', 'AA==A', 'AA-_', 'A:B\n\nAAAA', 'AAAA=', '----'];
  for (const text of [...bad, '-----BEGIN ', ...bodies.map((body) => `-----BEGIN A-----\n${body}\n-----END A-----`)])
    assert.throws(() => parsePem(text), { name: 'DerError' }, text);
  for (const read of [parsePem, decodeBase64]) assert.throws(() => read('A'.repeat((2 << 20) + 1)), /longer than/);
});
