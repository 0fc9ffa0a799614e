import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { test } from 'node:test';
import * as write from '../der/write.ts';
import { findAlgorithmByName, type SignatureAlgorithm, signatureAlgorithmFor } from './algorithm.ts';
import { encodeExtensions } from './build.ts';
import { parseCsr, parseCsrText, verifyCsr } from './csr.ts';
import { encodeExtension } from './extensions.ts';
import { derOf, readFixture, requestNames } from './fixtures/fixtures.ts';
import { encodeName } from './name.ts';
import { encodePem } from './pem.ts';

const name = encodeName([{ type: 'cn', value: 'x' }]);

function makeCsr(
  keys: { privateKey: KeyObject; publicKey: KeyObject },
  algorithm: SignatureAlgorithm,
  attributes: readonly Uint8Array[],
): Uint8Array {
  const spki = keys.publicKey.export({ type: 'spki', format: 'der' });
  const info = write.sequence(write.integer(0n), name, spki, write.contextExplicit(0, ...attributes));
  return write.sequence(info, algorithm.der, write.bitString(sign(algorithm.digest, info, keys.privateKey)));
}

const request = (...values: readonly Uint8Array[]): Uint8Array => write.sequence(write.oid('1.2.840.113549.1.9.14'), write.set(...values));

for (const fixture of requestNames)
  test(`${fixture}: the signature holds, and fails when anything changes`, async () => {
    const csr = parseCsrText(readFixture(fixture));
    assert.equal(await verifyCsr(csr), true);
    const info = Uint8Array.from(csr.info);
    info[info.length - 1]! ^= 1;
    assert.equal(await verifyCsr({ ...csr, info }), false);
    assert.equal(await verifyCsr({ ...csr, signature: csr.signature.subarray(1) }), false);
    assert.equal(await verifyCsr({ ...csr, spki: Uint8Array.of(0x30, 0) }), false);
    assert.equal(await verifyCsr({ ...csr, algorithm: undefined }), false);
  });

test('an algorithm that is not of the key', async () => {
  const csr = parseCsr(derOf('p256.csr'));
  assert.equal(await verifyCsr({ ...csr, algorithm: findAlgorithmByName('SHA256WITHRSA') }), false);
});

test('names and extensions that are asked for', () => {
  const { sans, extensions, subject } = parseCsr(derOf('rsa.csr'));
  assert.deepEqual(sans, [
    { type: 'DNSNAME', value: 'a.example.com' },
    { type: 'IPADDRESS', value: '10.0.0.1' },
  ]);
  assert.deepEqual(extensions.keyUsage, ['digitalSignature']);
  assert.equal(subject.rdns.length, 10);
});

test("Microsoft's extensions, attributes, and what occurs twice", async () => {
  const keys = generateKeyPairSync('ed25519');
  const algorithm = signatureAlgorithmFor('ed-25519')!;
  const wanted = encodeExtensions([encodeExtension('ms_sid', 'S-1-5-21-7', false), encodeExtension('ms_template', 'Web', false)]);
  const challenge = write.sequence(write.oid('1.2.840.113549.1.9.7'), write.set(write.printableString('secret')));
  const csr = parseCsr(makeCsr(keys, algorithm, [challenge, request(wanted)]));
  assert.equal(await verifyCsr(csr), true);
  assert.deepEqual([csr.extensions.ms_sid, csr.extensions.ms_template], ['S-1-5-21-7', 'Web']);
  assert.deepEqual(csr.attributes[0], { oid: '1.2.840.113549.1.9.7', values: [write.printableString('secret')] });
  assert.throws(() => parseCsr(makeCsr(keys, algorithm, [request(wanted), request(wanted)])), /requested twice/);
  assert.throws(() => parseCsr(makeCsr(keys, algorithm, [request(wanted, write.sequence())])), /requested twice/);
  assert.deepEqual(parseCsr(makeCsr(keys, algorithm, [request(write.sequence())])).extensions.list, []);
});

test('texts: both labels, bare base64, nothing else', () => {
  const der = derOf('p256.csr');
  for (const text of [
    encodePem('NEW CERTIFICATE REQUEST', der),
    Buffer.from(der).toString('base64'),
    `\r\n${readFixture('p256.csr').replaceAll('\n', '\r\n')}`,
  ])
    assert.deepEqual(parseCsrText(text).info, parseCsr(der).info);
  for (const text of ['', 'x', encodePem('CERTIFICATE', der), encodePem('CERTIFICATE REQUEST', der).repeat(2)])
    assert.throws(() => parseCsrText(text), { name: 'DerError' });
});
