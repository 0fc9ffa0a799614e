import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSealer, VaultError } from './seal.ts';

const sealer = createSealer(Buffer.alloc(32, 1), randomBytes);
const purpose = 'pki.connector/lab/caKey';
const refused = { name: 'VaultError', message: /cannot be opened/ };

test('what is sealed opens for its purpose', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), fc.string({ minLength: 1 }), (plaintext, name) => {
      const there = `credentials/${name}`;
      assert.deepEqual(new Uint8Array(sealer.open(sealer.seal(plaintext, there), there)), plaintext);
    }),
  );
});

test('another purpose, family or key does not open it', () => {
  const sealed = sealer.seal(Buffer.from('secret words'), purpose);
  for (const other of ['pki.connector/lab/caKey2', 'pki.connector/other/caKey', 'credentials/lab/caKey', 'pki.connector', `${purpose}/`])
    assert.throws(() => sealer.open(sealed, other), refused, other);
  assert.throws(() => createSealer(Buffer.alloc(32, 2), randomBytes).open(sealed, purpose), refused);
});

test('one changed, lost or added character does not open', () => {
  const sealed = sealer.seal(Buffer.from('secret words'), purpose);
  for (let at = 0; at < sealed.length; at++)
    for (const other of ['A', 'B', '_', '.', ''])
      if (sealed[at] !== other)
        assert.throws(() => sealer.open(sealed.slice(0, at) + other + sealed.slice(at + 1), purpose), refused, `${at} ${other}`);
  for (const text of ['', 'v1.', 'v2.AAAA', `${sealed}A`, `${sealed}=`, `${sealed}\n`, `v1.${'A'.repeat(36)}`])
    assert.throws(() => sealer.open(text, purpose), refused, text);
});

test('the same secret is sealed differently each time, with a nonce of the random source', () => {
  assert.notEqual(sealer.seal(Buffer.from('x'), purpose), sealer.seal(Buffer.from('x'), purpose));
  const seeded = createSealer(Buffer.alloc(32, 1), (bytes) => Buffer.alloc(bytes, 7));
  // The stored form: whoever changes it locks everybody out of their secrets.
  assert.equal(seeded.seal(Buffer.from('x'), purpose), 'v1.BwcHBwcHBwcHBwcH6YpKAK4FP9AG_zg9Ja23UjA');
});

test('derived keys differ by label and by vault key, and stay the same', () => {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  assert.equal(hex(sealer.derive('event.seal')), '757e7bdd224bc94bc735e7b7df1f2401f71adeb470548fec22e485a82a7b0ce8');
  assert.notEqual(hex(sealer.derive('event.seal')), hex(sealer.derive('event.seal2')));
  assert.notEqual(hex(sealer.derive('event.seal')), hex(createSealer(Buffer.alloc(32, 2), randomBytes).derive('event.seal')));
});

test('a key of another length and a secret without purpose are refused', () => {
  for (const bytes of [0, 16, 31, 33]) assert.throws(() => createSealer(Buffer.alloc(bytes), randomBytes), VaultError);
  for (const none of ['', '/lab']) assert.throws(() => sealer.seal(Buffer.from('x'), none), VaultError);
});

test('the vault key is copied: overwriting it afterwards changes nothing', () => {
  const key = Buffer.alloc(32, 1);
  const other = createSealer(key, randomBytes);
  key.fill(0);
  assert.equal(Buffer.from(sealer.open(other.seal(Buffer.from('x'), purpose), purpose)).toString(), 'x');
});
