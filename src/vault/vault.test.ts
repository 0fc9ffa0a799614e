import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, verify } from 'node:crypto';
import { test } from 'node:test';
import { createVault } from './vault.ts';

const vault = createVault({ key: Buffer.alloc(32, 1), random: randomBytes });
const purpose = 'pki.connector/lab/caKey';
const data = Buffer.from('to be signed');

const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const pem = (key: KeyObject, type: 'pkcs8' | 'sec1' | 'pkcs1'): string => key.export({ format: 'pem', type }).toString();

const verifies = (publicKey: Uint8Array, signature: Uint8Array, digest: string | null): boolean =>
  verify(digest, data, createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' }), signature);

test('private keys come in as PKCS#8, SEC1 and PKCS#1 and sign', async () => {
  const ed25519 = generateKeyPairSync('ed25519').privateKey;
  const mlDsa = generateKeyPairSync('ml-dsa-44').privateKey;
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  const cases: readonly (readonly [KeyObject, string, string | null])[] = [
    [p256, pem(p256, 'pkcs8'), 'sha256'],
    [p256, pem(p256, 'sec1'), 'sha384'],
    [p256, parameters + pem(p256, 'sec1'), 'sha256'],
    [p256, `a comment\r\n${pem(p256, 'pkcs8').replaceAll('\n', '\r\n')}`, 'sha256'],
    [rsa, pem(rsa, 'pkcs8'), 'sha256'],
    [rsa, pem(rsa, 'pkcs1'), 'sha512'],
    [ed25519, pem(ed25519, 'pkcs8'), null],
    [mlDsa, pem(mlDsa, 'pkcs8'), null],
  ];
  for (const [key, text, digest] of cases) {
    const { sealed, publicKey } = vault.sealPrivateKey(text, purpose);
    assert.deepEqual(Buffer.from(publicKey), createPublicKey(key).export({ format: 'der', type: 'spki' }));
    const signer = vault.signer(sealed, purpose);
    assert.deepEqual(signer.publicKey, publicKey);
    assert.ok(verifies(publicKey, await signer.sign(data, digest), digest));
    assert.deepEqual(createPrivateKey({ key: Buffer.from(vault.open(sealed, purpose)), format: 'der', type: 'pkcs8' }).equals(key), true);
  }
});

test('what is no plain private key is refused, and said without repeating it', () => {
  const secret = pem(p256, 'pkcs8').split('\n')[1]!;
  const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  const x25519 = generateKeyPairSync('x25519').privateKey;
  const legacy = `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n${secret}\n-----END RSA PRIVATE KEY-----`;
  const explicitCurve = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' }).privateKey;
  const cases: readonly (readonly [string, RegExp])[] = [
    [p256.export(encrypted).toString(), /is encrypted/],
    [legacy, /is encrypted/],
    [createPublicKey(p256).export({ format: 'pem', type: 'spki' }).toString(), /not PUBLIC KEY/],
    [`-----BEGIN CERTIFICATE-----\n${secret}\n-----END CERTIFICATE-----`, /not CERTIFICATE/],
    [`-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}\n-----END OPENSSH PRIVATE KEY-----`, /not OPENSSH PRIVATE KEY/],
    [`-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`, /no private key that can be read/],
    [pem(p256, 'pkcs8') + pem(rsa, 'pkcs8'), /not 2 PEM blocks/],
    [pem(x25519, 'pkcs8'), /type x25519 cannot sign/],
    [pem(explicitCurve, 'pkcs8'), /must name it/],
    [secret, /as PEM/],
    ['', /as PEM/],
    [`${'-----BEGIN PRIVATE KEY-----'.repeat(900)}`, /as PEM/],
    ['x'.repeat(1_000_000), /longer than/],
  ];
  for (const [text, message] of cases)
    assert.throws(
      () => vault.sealPrivateKey(text, purpose),
      (error: Error) => error.name === 'VaultError' && message.test(error.message) && !error.message.includes(secret.slice(0, 16)),
      String(message),
    );
});

test('keys are made of every type offered', async () => {
  const types = ['ec-secp256r1', 'ec-secp384r1', 'ec-secp521r1', 'rsa-2048'];
  for (const type of types) {
    const { sealed, publicKey } = await vault.generateKey(type, purpose);
    assert.ok(verifies(publicKey, await vault.signer(sealed, purpose).sign(data, 'sha256'), 'sha256'), type);
  }
  for (const type of ['rsa-2560', 'ec-secp256k1', '', 'constructor'])
    await assert.rejects(vault.generateKey(type, purpose), { name: 'VaultError', message: /are not made here, only ec-secp256r1/ });
});

test('a signer is kept for its sealed key and purpose alone', () => {
  const { sealed } = vault.sealPrivateKey(pem(p256, 'pkcs8'), purpose);
  const signer = vault.signer(sealed, purpose);
  assert.equal(vault.signer(sealed, purpose), signer);
  assert.throws(() => vault.signer(sealed, 'pki.connector/other/caKey'), { name: 'VaultError' });
  assert.throws(() => vault.signer('v1.x', purpose), { name: 'VaultError' });
});

test('the signer used least recently is the one let go', () => {
  const seal = (): string => vault.sealPrivateKey(pem(p256, 'pkcs8'), purpose).sealed;
  const [used, unused] = [seal(), seal()];
  const [usedSigner, unusedSigner] = [vault.signer(used, purpose), vault.signer(unused, purpose)];
  for (let n = 0; n < 256; n++) {
    vault.signer(seal(), purpose);
    assert.equal(vault.signer(used, purpose), usedSigner);
  }
  assert.notEqual(vault.signer(unused, purpose), unusedSigner);
});

test('a wrong digest rejects', async () => {
  const { sealed } = vault.sealPrivateKey(pem(p256, 'pkcs8'), purpose);
  await assert.rejects(vault.signer(sealed, purpose).sign(data, 'no-such-digest'));
});
