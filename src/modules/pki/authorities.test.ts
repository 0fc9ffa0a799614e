import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { collectionContract, writeGiven } from '../../../test/conformance/collection.ts';
import { type Bench, openBench, principalWith } from '../../../test/support/context.ts';
import { findAlgorithmByName } from '../../lib/x509/algorithm.ts';
import { assemble, encodeTbs, subjectKeyIdentifier } from '../../lib/x509/build.ts';
import { parseCertificate } from '../../lib/x509/certificate.ts';
import { type ExtensionKind, type ExtensionValues, encodeExtension } from '../../lib/x509/extensions.ts';
import { encodeName } from '../../lib/x509/name.ts';
import { encodePem } from '../../lib/x509/pem.ts';
import { authorities, findChain } from './authorities.ts';
import { createChains } from './chain.ts';
import { decodedCertificate, decodedCertificateSchema } from './decoded-certificate.ts';

interface Holder {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly spki: Uint8Array;
}
const holder = (name: string): Holder => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { name, privateKey, spki: new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })) };
};

type Values = Partial<{ [K in ExtensionKind]: ExtensionValues[K] }>;
const authority: Values = { basicConstraints: { isCa: true }, keyUsage: ['keyCertSign'] };
const algorithm = findAlgorithmByName('SHA256WITHECDSA')!;

/** A certificate for `subject`, signed by `issuer`. */
function certify(subject: Holder, issuer: Holder, values: Values = authority, notAfter = Date.UTC(2040, 0)): Uint8Array {
  const extensions = Object.entries(values) as [ExtensionKind, never][];
  const tbs = encodeTbs({
    serial: Uint8Array.of(0x12, 0x34),
    algorithm,
    issuerName: encodeName([{ type: 'cn', value: issuer.name }]),
    subjectName: encodeName(
      [
        { type: 'o', value: 'Example' },
        { type: 'cn', value: subject.name },
      ].slice(subject.name.startsWith('leaf') ? 0 : 1),
    ),
    notBefore: Date.UTC(2020, 0),
    notAfter,
    spki: subject.spki,
    extensions: [
      ...extensions.map(([kind, value]) => encodeExtension(kind, value, kind === 'keyUsage')),
      encodeExtension('authorityKeyIdentifier', subjectKeyIdentifier(issuer.spki), false),
    ],
  });
  return assemble(tbs, algorithm, sign('sha256', tbs, issuer.privateKey));
}
const pemOf = (der: Uint8Array) => encodePem('CERTIFICATE', der);

const [root, middle, other, leaf] = [holder('Root'), holder('Middle'), holder('Root'), holder('leaf')];
const rootDer = certify(root, root);
const middleDer = certify(middle, root);
const leafDer = certify(leaf, middle, {});

const valid = { name: 'Example Root', certificate: pemOf(rootDer), public: true, refresh: '1 day', timeout: '5 minutes' };
collectionContract(authorities, {
  valid,
  shown: {
    name: 'Example Root',
    public: true,
    downloadable: false,
    trustedForClientAuthentication: false,
    trustedForServerAuthentication: false,
    outdatedRevocationStatusPolicy: 'unknown',
    refresh: '1 day',
    subjectKeyIdentifier: subjectKeyIdentifier(root.spki),
    certificate: { dn: 'CN=Root', selfSigned: true, basicConstraints: { isCa: true }, pem: pemOf(rootDer) },
  },
  invalid: [
    { ...valid, name: ' Root' },
    { ...valid, name: undefined },
    { ...valid, certificate: undefined },
    { ...valid, certificate: 'nonsense' },
    { ...valid, certificate: pemOf(leafDer) },
    { ...valid, certificate: pemOf(rootDer) + pemOf(middleDer) },
    { ...valid, refresh: '8 days' },
    { ...valid, timeout: '6 minutes' },
    { ...valid, outdatedRevocationStatusPolicy: 'good' },
    { ...valid, crlUrl: 'http://crl.example/root.crl' },
    { ...valid, responderUrl: 'http://ocsp.example' },
    { ...valid, proxy: 'proxy' },
    { ...valid, trustedForClientAuthentication: true },
    { ...valid, nameMapping: '{{certificate.subject.cn.1}}' },
  ],
});

describe('certificate authorities', () => {
  const owner = principalWith(['configuration:*']);
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());
  beforeEach(() => bench.clear());
  const call = async (id: string, body: unknown): Promise<Record<string, unknown>> => {
    const operation = authorities.operations.find((one) => one.id === `ca.${id}`)!;
    const { status, body: answer } = await bench.perform(operation, { body }, owner);
    const schema = operation.answers[status];
    if (schema && typeof schema === 'object') schema.parse(answer);
    return answer as Record<string, unknown>;
  };

  it('have a certificate that no other has, and keep it', async () => {
    const made = await call('add', valid);
    const twin = await call('add', { ...valid, name: 'Twin' });
    assert.deepEqual([twin['error'], twin['detail']], ['CA-004', "'Example Root' has the same certificate"]);
    const changed = await call('update', { ...made, public: false, subjectKeyIdentifier: '00' });
    assert.deepEqual(changed, { ...made, public: false });
    const kept = await call('update', { ...valid, certificate: pemOf(middleDer) });
    assert.deepEqual(kept['certificate'], made['certificate']);
    assert.equal((await call('update', { name: valid.name }))['error'], 'CA-002');
  });

  it('make the chain of a certificate', async () => {
    await writeGiven(bench, [
      ['ca', 'Root', { name: 'Root', certificate: pemOf(rootDer) }],
      ['ca', 'Middle', { name: 'Middle', certificate: pemOf(middleDer) }],
    ]);
    const { configuration } = await bench.as(owner);
    assert.deepEqual((await findChain(leafDer, configuration)).map(pemOf), [middleDer, rootDer].map(pemOf));
  });
});

describe('chains', () => {
  const above = (der: Uint8Array, ...known: readonly Uint8Array[]) =>
    createChains(known.map(parseCertificate))
      .above(parseCertificate(der))
      .map((found) => pemOf(found.der));

  it('end at a self-signed certificate or where nothing more is known', () => {
    assert.deepEqual(above(leafDer, rootDer, middleDer), [middleDer, rootDer].map(pemOf));
    assert.deepEqual(above(leafDer, middleDer), [pemOf(middleDer)]);
    assert.deepEqual(above(leafDer, rootDer), []);
    assert.deepEqual(above(rootDer, rootDer), []);
  });

  it('take the key for it, not the name', () => {
    const impostor = certify(other, other);
    assert.deepEqual(above(middleDer, impostor, rootDer), [pemOf(rootDer)]);
    assert.deepEqual(above(middleDer, impostor), []);
    const unnamed = assemble(parseCertificate(middleDer).tbs, algorithm, sign('sha256', Buffer.from('x'), root.privateKey));
    assert.deepEqual(above(unnamed, rootDer), []);
  });

  it('prefer the authority that lasts longest', () => {
    const longer = certify(root, root, authority, Date.UTC(2050, 0));
    assert.deepEqual(above(middleDer, rootDer, longer), [pemOf(longer)]);
  });

  it('do not go round in circles', () => {
    const [one, two] = [holder('One'), holder('Two')];
    const circle = [certify(one, two), certify(two, one)];
    const found = above(circle[0]!, ...circle);
    assert.ok(found.length > 0 && found.length <= 10);
  });
});

describe('a decoded certificate', () => {
  it('agrees with node and the contract', () => {
    const der = certify(leaf, middle, {
      keyUsage: ['digitalSignature', 'keyAgreement'],
      extendedKeyUsage: ['1.3.6.1.5.5.7.3.2', '1.2.3'],
      subjectAltName: { names: [{ type: 'DNSNAME', value: 'host.example' }], unsupported: [] },
      ms_template: 'Web',
      crlDistributionPoints: ['http://crl.example/1.crl'],
      authorityInfoAccess: { ocsp: ['http://ocsp.example'], crt: [] },
      certificatePolicies: [{ oid: '1.2.3.4', urls: [] }],
    });
    const decoded = decodedCertificateSchema.parse(decodedCertificate(parseCertificate(der)));
    const node = new X509Certificate(der);
    const hex = (colons: string) => colons.replaceAll(':', '').toLowerCase();
    assert.equal(decoded.certificateThumbprint, hex(node.fingerprint256));
    assert.equal(decoded.certificateSHAOneThumbprint, hex(node.fingerprint));
    assert.deepEqual([decoded.notBefore, decoded.notAfter], [node.validFromDate.getTime(), node.validToDate.getTime()]);
    assert.partialDeepStrictEqual(decoded, {
      dn: 'CN=leaf,O=Example',
      dnElements: [
        { type: 'CN', value: 'leaf' },
        { type: 'O', value: 'Example' },
      ],
      issuerDn: 'CN=Middle',
      serial: '1234',
      keyType: 'ec-secp256r1',
      signingAlgorithm: 'SHA256WITHECDSA',
      keyUsages: ['digitalSignature', 'keyAgreement'],
      isKeyUsagesCritical: true,
      extendedKeyUsages: ['clientAuth', '1.2.3'],
      isExtendedKeyUsagesCritical: false,
      selfSigned: false,
      sans: [{ sanType: 'DNSNAME', value: 'host.example' }],
      basicConstraints: { isCa: false },
      extensions: [{ key: 'ms_template', value: 'Web' }],
      crldps: ['http://crl.example/1.crl'],
      aias: { ocsp: ['http://ocsp.example'], crt: [] },
      policies: [{ oid: '1.2.3.4', urls: [] }],
      authorityKeyIdentifier: subjectKeyIdentifier(middle.spki),
      subjectKeyIdentifier: subjectKeyIdentifier(leaf.spki),
    });
  });

  it('leaves out what is not there', () => {
    const decoded = decodedCertificate(parseCertificate(rootDer));
    assert.equal(decoded.selfSigned, true);
    for (const key of ['sans', 'extensions', 'crldps', 'aias', 'policies', 'unsupportedExtensions']) assert.ok(!(key in decoded), key);
    assert.equal(decodedCertificate(parseCertificate(certify(root, other))).selfSigned, false);
  });
});
