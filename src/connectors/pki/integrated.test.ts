import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { issueThrough, pkiConnectorContract, sampleOrder } from '../../../test/conformance/pki-connector.ts';
import { InvalidField } from '../../kernel/connector.ts';
import { findAlgorithmByName } from '../../lib/x509/algorithm.ts';
import { assemble, encodeTbs, subjectKeyIdentifier } from '../../lib/x509/build.ts';
import { parseCertificate } from '../../lib/x509/certificate.ts';
import { type BasicConstraints, type Extension, encodeExtension, isCritical, type KeyUsage } from '../../lib/x509/extensions.ts';
import { encodeName, formatDn } from '../../lib/x509/name.ts';
import { encodePem, parsePem } from '../../lib/x509/pem.ts';
import { OrderRefused } from '../../modules/pki/pki-connector.port.ts';
import { createVault } from '../../vault/vault.ts';
import { integrated } from './integrated.ts';

const vault = createVault({ key: randomBytes(32), random: randomBytes });
const log = { info: () => {}, warn: () => {}, error: () => {} };
const minimal = { name: 'lab', type: 'integrated', cryptoType: 'legacy' } as const;
type Draft = Parameters<NonNullable<typeof integrated.accept>>[0];
type Stored = Parameters<typeof integrated.open>[0];

const day = 86_400_000;
const toolsAt = (now: () => number) => ({ now, random: randomBytes, log, signer: vault.signer, purpose: 'pki.connector/lab' });
const accept = async (draft: Partial<Draft>, stored?: Stored, now = Date.now) =>
  integrated.accept!({ ...minimal, ...draft }, { ...toolsAt(now), vault, stored });
const openedAt = (stored: Stored, now = Date.now) => integrated.open(stored, toolsAt(now));
const caOf = ({ caCert }: Stored) => parseCertificate(parsePem(caCert)[0]!.der);

const keyMakers = {
  'RSA 2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'RSA 3072': () => generateKeyPairSync('rsa', { modulusLength: 3072 }),
  'RSA 4096': () => generateKeyPairSync('rsa', { modulusLength: 4096 }),
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  'P-384': () => generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
  'P-521': () => generateKeyPairSync('ec', { namedCurve: 'secp521r1' }),
};
const pemOf = ({ privateKey }: { readonly privateKey: KeyObject }) => privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const caKey = { value: pemOf(keyMakers['P-256']()) };

for (const [name, makeKey] of Object.entries(keyMakers))
  pkiConnectorContract(`integrated, ${name}`, async () => openedAt(await accept({ caKey: { value: pemOf(makeKey()) } })), {
    prepares: true,
  });

interface Sample {
  readonly constraints?: BasicConstraints;
  readonly usages?: readonly KeyUsage[];
  readonly further?: readonly Extension[];
  readonly isNamed?: boolean;
  readonly from?: number;
  readonly days?: number;
}
/** The certificate of an authority with `caKey`, or of what is none. */
async function caCert({
  constraints = { isCa: true },
  usages = ['keyCertSign'],
  further = [],
  isNamed = true,
  from = Date.now() - day,
  days = 30,
}: Sample = {}) {
  const { sealed } = vault.sealPrivateKey(caKey.value, 'test/key');
  const signer = vault.signer(sealed, 'test/key');
  const algorithm = findAlgorithmByName('SHA256WITHECDSA')!;
  const elements = [
    { type: 'o', value: 'Example' },
    { type: 'cn', value: 'Issuing' },
  ];
  const subject = encodeName(isNamed ? elements : []);
  const tbs = encodeTbs({
    serial: Uint8Array.of(1),
    algorithm,
    issuerName: encodeName([{ type: 'cn', value: 'Root' }]),
    subjectName: subject,
    notBefore: from,
    notAfter: from + days * day,
    spki: signer.publicKey,
    extensions: [
      encodeExtension('basicConstraints', constraints, true),
      encodeExtension('keyUsage', usages, true),
      encodeExtension('subjectKeyIdentifier', '0102', false),
      encodeExtension('authorityKeyIdentifier', subjectKeyIdentifier(signer.publicKey), false),
      ...further,
    ],
  });
  return encodePem('CERTIFICATE', assemble(tbs, algorithm, await signer.sign(tbs, 'sha256')));
}

const refuses = (field: string, draft: Partial<Draft>, words = /./, stored?: Stored) =>
  assert.rejects(
    accept(draft, stored),
    (error) => error instanceof InvalidField && error.message.startsWith(`${field}: `) && words.test(error.message),
  );

describe('the authority', () => {
  it('makes a P-256 key and a root of its own when it is given nothing', async () => {
    const stored = await accept({});
    const { subject, publicKey, extensions, notAfter } = caOf(stored);
    assert.equal(formatDn(subject), 'CN=lab');
    assert.equal(publicKey.keyType, 'ec-secp256r1');
    assert.deepEqual([extensions.basicConstraints, extensions.keyUsage], [{ isCa: true }, ['keyCertSign', 'cRLSign']]);
    assert.ok(notAfter > Date.now() + 3600 * day);
    assert.deepEqual(Object.keys(stored.caKey), ['sealed']);
    assert.throws(() => vault.signer(stored.caKey.sealed, 'pki.connector/other/caKey'), /cannot be opened/);
  });

  it('takes a key and its certificate, under another name than its own', async () => {
    const stored = await accept({ caKey, caCert: `Issuing authority\n${await caCert()}`, certType: 'x', checkPop: true });
    assert.equal(formatDn(caOf(stored).subject), 'CN=Issuing,O=Example');
    assert.doesNotMatch(stored.caCert, /Issuing authority/);
    assert.deepEqual([stored.certType, stored.checkPop], ['x', true]);
    const { certificate } = await issueThrough(openedAt(stored), sampleOrder());
    const leaf = parseCertificate(certificate);
    assert.deepEqual([leaf.extensions.authorityKeyIdentifier, leaf.issuer.der], ['0102', caOf(stored).subject.der]);
    assert.equal(leaf.notAfter, caOf(stored).notAfter);
  });

  it('keeps key and certificate when an update names neither, and replaces the root with the key', async () => {
    const first = await accept({ caKey });
    const same = await accept({ caKey: {}, crtLifetime: '90 days' }, first);
    assert.deepEqual([same.caKey, same.caCert], [first.caKey, first.caCert]);
    assert.equal((await accept({ caCert: await caCert() }, first)).caKey.sealed, first.caKey.sealed);
    const replaced = await accept({ caKey: { value: pemOf(keyMakers['P-384']()) } }, first);
    assert.equal(caOf(replaced).publicKey.keyType, 'ec-secp384r1');
    await refuses('caCert', { caKey: { value: pemOf(keyMakers['P-256']()) }, caCert: first.caCert }, /another key/, first);
  });

  it('refuses certificates that nothing can be issued under', async () => {
    const [expired, future] = [await caCert({ from: Date.now() - 40 * day }), await caCert({ from: Date.now() + day })];
    await refuses('caCert', { caKey, caCert: expired }, /expired/);
    await refuses('caCert', { caKey, caCert: future }, /not valid before/);
    await refuses('caCert', { caKey, caCert: await caCert({ constraints: { isCa: false }, usages: ['digitalSignature'] }) }, /authority/);
    await refuses('caCert', { caKey, caCert: await caCert({ usages: ['cRLSign'] }) }, /key usage/);
    await refuses('caCert', { caKey, caCert: await caCert({ isNamed: false }) }, /no subject/);
    for (const [oid, critical] of [
      ['2.5.29.30', true],
      ['2.5.29.30', false],
      ['2.5.29.36', false],
      ['2.5.29.54', false],
      ['1.2.3', true],
    ] as const)
      await refuses(
        'caCert',
        { caKey, caCert: await caCert({ further: [{ oid, critical, value: Uint8Array.of(0x30, 0) }] }) },
        /limits what/,
      );
    assert.ok(await accept({ caKey, caCert: await caCert({ further: [{ oid: '1.2.3', critical: false, value: Uint8Array.of(5, 0) }] }) }));
    assert.ok(await accept({ caKey, caCert: await caCert({ constraints: { isCa: true, pathLen: 0 } }) }));
    await refuses('caCert', { caKey: { value: pemOf(keyMakers['P-256']()) }, caCert: await caCert() }, /another key/);
    await refuses('caCert', { caKey, caCert: caKey.value }, /one certificate/);
    await refuses('caCert', { caKey, caCert: (await caCert()) + (await caCert()) }, /one certificate/);
    await refuses('caCert', { caKey, caCert: encodePem('CERTIFICATE', Uint8Array.of(0x30, 0)) }, /element missing/);
    await refuses('caCert', { caKey, caCert: '-----BEGIN CERTIFICATE-----\nAAAA' }, /no end/);
    await refuses('caKey', { caCert: await caCert() }, /missing/);
  });

  it('refuses what it cannot do, by name', async () => {
    await refuses('cryptoType', { cryptoType: 'pqc' }, /not available/);
    await refuses('crtLifetime', { crtLifetime: '0 days' });
    await refuses('name', { name: 'n'.repeat(65) }, /CN has 65 characters/);
    for (const signAlg of ['SHA256WITHRSA', 'SHA1WITHECDSA', 'nonsense', 'ED25519']) await refuses('signAlg', { caKey, signAlg });
    await assert.rejects(accept({ caKey: { value: 'nonsense' } }), /private key is expected/);
  });

  it('signs with the digest that signAlg names', async () => {
    const stored = await accept({ caKey, signAlg: 'sha512withECDSA' });
    const { certificate } = await issueThrough(openedAt(stored), sampleOrder());
    assert.equal(parseCertificate(certificate).algorithm?.name, 'SHA512WITHECDSA');
  });
});

describe('its certificates', () => {
  it('hold what the order and the key ask for', async () => {
    const port = openedAt(await accept({ caKey }));
    const ec = parseCertificate((await issueThrough(port, sampleOrder())).certificate);
    const lists = {
      keyUsage: ec.extensions.keyUsage,
      extendedKeyUsage: ec.extensions.extendedKeyUsage,
      basicConstraints: ec.extensions.basicConstraints,
    };
    assert.deepEqual(lists, {
      keyUsage: ['digitalSignature'],
      extendedKeyUsage: ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'],
      basicConstraints: { isCa: false },
    });
    assert.ok(
      isCritical(ec.extensions, 'keyUsage') &&
        isCritical(ec.extensions, 'basicConstraints') &&
        !isCritical(ec.extensions, 'subjectAltName'),
    );
    const { publicKey } = keyMakers['RSA 2048']();
    const spki = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }));
    const extensions = { ms_sid: 'S-1-5-21-1-2-3-500', ms_template: 'Web', ms_template_v2: '1.2.3:4:5' };
    const rsa = parseCertificate(
      (await issueThrough(port, sampleOrder({ spki, keyType: 'rsa-2048', subject: encodeName([]), extensions }))).certificate,
    );
    assert.deepEqual(rsa.extensions.keyUsage, ['digitalSignature', 'keyEncipherment']);
    assert.ok(isCritical(rsa.extensions, 'subjectAltName'));
    const { ms_sid, ms_template, ms_template_v2 } = rsa.extensions;
    assert.deepEqual({ ms_sid, ms_template, ms_template_v2 }, extensions);
  });

  it('are valid from a little ago for the set time, never beyond the authority', async () => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    const stored = await accept({ caKey, crtLifetime: '90 days', crtBackDate: '2 hours' }, undefined, () => now);
    const validity = async (at: number) => {
      const { notBefore, notAfter } = parseCertificate(
        (
          await issueThrough(
            openedAt(stored, () => at),
            sampleOrder(),
          )
        ).certificate,
      );
      return [notBefore, notAfter];
    };
    const { notBefore, notAfter } = caOf(stored);
    assert.deepEqual(await validity(now), [notBefore, now + 90 * day]);
    assert.deepEqual(await validity(now + day), [now + day - 7_200_000, now + 91 * day]);
    assert.deepEqual(await validity(notAfter - day), [notAfter - day - 7_200_000, notAfter]);
  });

  it('are none while the certificate of the authority is not valid', async () => {
    const stored = await accept({ caKey });
    const { notBefore, notAfter } = caOf(stored);
    const refused = (error: unknown) => error instanceof OrderRefused && /authority/.test(error.message);
    for (const at of [notBefore - 1000, notAfter + 1000]) {
      const port = openedAt(stored, () => at);
      await assert.rejects(port.probe(), refused);
      await assert.rejects(port.prepare!(sampleOrder()), refused);
    }
    const order = sampleOrder();
    const prepared = await openedAt(stored).prepare!(order);
    await assert.rejects(openedAt(stored, () => notAfter + 1000).issue(order, prepared), refused);
    await assert.rejects(openedAt(stored).issue(order), /only what was prepared/);
    await assert.rejects(openedAt(await accept({})).issue(order, prepared), /another key/);
  });

  it('are not handed out when a fault spoils a signature that would give the key away', async () => {
    const usual = toolsAt(Date.now);
    const signer: typeof usual.signer = (...key) => {
      const { publicKey, sign } = usual.signer(...key);
      return { publicKey, sign: async (...data) => (await sign(...data)).map((octet, i) => (i === 40 ? octet ^ 1 : octet)) };
    };
    const tools = { ...usual, signer };
    for (const makeKey of [keyMakers['RSA 2048'], () => generateKeyPairSync('ed25519'), () => generateKeyPairSync('ml-dsa-44')]) {
      const stored = await accept({ caKey: { value: pemOf(makeKey()) } });
      await assert.rejects(issueThrough(integrated.open(stored, tools), sampleOrder()), /no signature of what it was given/);
    }
  });
});
