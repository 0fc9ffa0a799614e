import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nullValue, oid, sequence } from '../der/write.ts';
import { algorithmName, findAlgorithm, findAlgorithmByName, signatureAlgorithmFor, signatureAlgorithms } from './algorithm.ts';
import { keyTypes } from './key-type.ts';

test('each key type has its algorithm, but for the prehash variants', () => {
  const names = Object.fromEntries(keyTypes.map((keyType) => [keyType, signatureAlgorithmFor(keyType)?.name]));
  assert.equal(names['rsa-8192'], 'SHA256WITHRSA');
  assert.equal(names['ec-secp256r1'], 'SHA256WITHECDSA');
  assert.equal(names['ec-brainpoolp384r1'], 'SHA384WITHECDSA');
  assert.equal(names['ec-secp521r1'], 'SHA512WITHECDSA');
  assert.equal(names['ed-448'], 'ED448');
  assert.equal(names['mldsa-65'], 'MLDSA65');
  const without = keyTypes.filter((keyType) => names[keyType] === undefined);
  assert.deepEqual(
    without,
    keyTypes.filter((keyType) => /[sf]sha(256|512)$/.test(keyType)),
  );
  assert.equal(signatureAlgorithmFor('rsa-2048', 'sha512')?.name, 'SHA512WITHRSA');
  assert.equal(signatureAlgorithmFor('ed-25519', 'sha256'), undefined);
});

test('found by name and by exact octets', () => {
  for (const algorithm of signatureAlgorithms) {
    assert.equal(findAlgorithm(algorithm.der), algorithm);
    assert.equal(findAlgorithmByName(algorithm.name.toLowerCase()), algorithm);
  }
  assert.equal(findAlgorithm(sequence(oid('1.2.840.10045.4.3.2'), nullValue())), undefined);
  assert.equal(findAlgorithm(sequence(oid('1.2.840.113549.1.1.11'))), undefined);
  assert.equal(algorithmName(sequence(oid('1.2.840.113549.1.1.10'), sequence())), '1.2.840.113549.1.1.10');
});
