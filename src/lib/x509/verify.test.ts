import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { test } from 'node:test';
import { findAlgorithmByName, type SignatureAlgorithm, signatureAlgorithmFor } from './algorithm.ts';
import { type KeyType, keyTypeOf } from './key-type.ts';
import { isSignedBy } from './verify.ts';

const data = Buffer.from('what is signed');
const spkiOf = (key: KeyObject): Uint8Array => new Uint8Array(key.export({ type: 'spki', format: 'der' }));

const makers = {
  'rsa-2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'ec-secp256r1': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'ec-secp384r1': () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'ec-secp521r1': () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  'ec-brainpoolp256r1': () => generateKeyPairSync('ec', { namedCurve: 'brainpoolP256r1' }),
  'ed-25519': () => generateKeyPairSync('ed25519'),
  'ed-448': () => generateKeyPairSync('ed448'),
  'mldsa-44': () => generateKeyPairSync('ml-dsa-44'),
} satisfies Partial<Record<KeyType, () => { readonly publicKey: KeyObject; readonly privateKey: KeyObject }>>;

function signed(name: keyof typeof makers) {
  const { publicKey, privateKey } = makers[name]();
  const algorithm = signatureAlgorithmFor(name)!;
  return { publicKey, algorithm, signature: new Uint8Array(sign(algorithm.digest, data, privateKey)) };
}

for (const name of Object.keys(makers) as (keyof typeof makers)[])
  test(`${name}: by its key, in either form, and by no other`, async () => {
    const { publicKey, ...rest } = signed(name);
    const statement = { data, ...rest };
    const other = makers[name]().publicKey;
    for (const keyType of [name, undefined]) {
      const by = (key: KeyObject | Uint8Array, what = statement) => isSignedBy(key, keyType, what);
      assert.equal(await by(publicKey), true);
      assert.equal(await by(spkiOf(publicKey)), true);
      assert.equal(await by(other), false);
      assert.equal(await by(spkiOf(other)), false);
      assert.equal(await by(publicKey, { ...statement, data: Buffer.from('what is not') }), false);
      for (const signature of [
        new Uint8Array(0),
        statement.signature.subarray(1),
        statement.signature.map((octet, i) => (i === 40 ? octet ^ 1 : octet)),
      ])
        assert.equal(await by(publicKey, { ...statement, signature }), false);
    }
    assert.equal(keyTypeOf(spkiOf(publicKey)), name);
  });

test('a key that cannot be read, is of another kind, or signed with another digest', async () => {
  const { publicKey, ...rest } = signed('ec-secp256r1');
  const statement = { data, ...rest };
  const unreadable = [
    new Uint8Array(0),
    Uint8Array.of(0x30, 0),
    spkiOf(publicKey).subarray(1),
    spkiOf(publicKey).map((octet) => octet ^ 0xff),
  ];
  for (const keyType of ['ec-secp256r1', 'ec-secp384r1', undefined] as const)
    for (const key of unreadable) assert.equal(await isSignedBy(key, keyType, statement), false);
  const others: readonly (readonly [KeyObject, SignatureAlgorithm])[] = [
    [makers['ed-25519']().publicKey, rest.algorithm],
    [makers['rsa-2048']().publicKey, rest.algorithm],
    [publicKey, findAlgorithmByName('SHA512WITHECDSA')!],
  ];
  for (const [key, algorithm] of others)
    for (const keyType of ['ec-secp256r1', undefined] as const)
      assert.equal(await isSignedBy(key, keyType, { ...statement, algorithm }), false);
});
