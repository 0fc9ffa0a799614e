import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { signatureAlgorithmFor } from './algorithm.ts';
import { assemble, encodeTbs, newSerial, subjectKeyIdentifier, type TbsInput } from './build.ts';
import { parseCertificate } from './certificate.ts';
import { type ExtensionKind, type Extensions, type ExtensionValues, encodeExtension } from './extensions.ts';
import type { GeneralName } from './general-names.ts';
import { weakness } from './key-check.ts';
import { type KeyType, keyTypeOf } from './key-type.ts';
import { lint } from './lint.ts';
import { encodeName, formatDn, parseName } from './name.ts';

const KEYS: readonly (readonly [KeyType, () => { privateKey: KeyObject; publicKey: KeyObject }])[] = [
  ['rsa-2048', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['ec-secp256r1', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['ec-secp384r1', () => generateKeyPairSync('ec', { namedCurve: 'P-384' })],
  ['ec-secp521r1', () => generateKeyPairSync('ec', { namedCurve: 'P-521' })],
  ['ec-brainpoolp256r1', () => generateKeyPairSync('ec', { namedCurve: 'brainpoolP256r1' })],
  ['ec-brainpoolp384r1', () => generateKeyPairSync('ec', { namedCurve: 'brainpoolP384r1' })],
  ['ec-brainpoolp512r1', () => generateKeyPairSync('ec', { namedCurve: 'brainpoolP512r1' })],
  ['ed-25519', () => generateKeyPairSync('ed25519')],
  ['ed-448', () => generateKeyPairSync('ed448')],
  ['mldsa-44', () => generateKeyPairSync('ml-dsa-44')],
  ['mldsa-65', () => generateKeyPairSync('ml-dsa-65')],
  ['mldsa-87', () => generateKeyPairSync('ml-dsa-87')],
  ['slhdsa-sha2-128f', () => generateKeyPairSync('slh-dsa-sha2-128f')],
  ['slhdsa-sha2-192f', () => generateKeyPairSync('slh-dsa-sha2-192f')],
];

const sans: readonly GeneralName[] = [
  { type: 'DNSNAME', value: '*.example.com' },
  { type: 'RFC822NAME', value: 'a+b@example.com' },
  { type: 'URI', value: 'spiffe://example.com/a' },
  { type: 'IPADDRESS', value: '2001:db8::1' },
  { type: 'OTHERNAME_UPN', value: 'ünï@example.com' },
  { type: 'OTHERNAME_GUID', value: '00112233445566778899aabbccddeeff' },
  { type: 'REGISTERED_ID', value: '1.3.6.1' },
];

function inputFor(keyType: KeyType, spki: Uint8Array): TbsInput {
  const issuer = encodeName([
    { type: 'c', value: 'FR' },
    { type: 'cn', value: 'Issuer' },
  ]);
  const keyId = subjectKeyIdentifier(spki);
  return {
    serial: newSerial(new Uint8Array(16).fill(0xab)),
    algorithm: signatureAlgorithmFor(keyType)!,
    issuerName: issuer,
    subjectName: encodeName([
      { type: 'O', value: 'Ünïcode, "Inc."' },
      { type: 'cn', value: 'leaf' },
    ]),
    notBefore: Date.UTC(2026, 0, 1),
    notAfter: Date.UTC(2051, 0, 1),
    spki,
    extensions: [
      encodeExtension('basicConstraints', { isCa: false }, true),
      encodeExtension('keyUsage', ['digitalSignature'], true),
      encodeExtension('extendedKeyUsage', ['1.3.6.1.5.5.7.3.1'], false),
      encodeExtension('subjectKeyIdentifier', keyId, false),
      encodeExtension('authorityKeyIdentifier', keyId, false),
      encodeExtension('subjectAltName', { names: sans, unsupported: [] }, false),
      encodeExtension('crlDistributionPoints', ['http://example.com/a.crl'], false),
      encodeExtension('authorityInfoAccess', { ocsp: ['http://o.example.com'], crt: [] }, false),
      encodeExtension('certificatePolicies', [{ oid: '2.23.140.1.2.1', urls: ['https://example.com/cps'] }], false),
      encodeExtension('ms_sid', 'S-1-5-21-1-2-3-500', false),
    ],
  };
}

for (const [keyType, generate] of KEYS)
  test(`${keyType}: built, signed, read by node, read by us, clean`, () => {
    const { privateKey, publicKey } = generate();
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    assert.equal(keyTypeOf(spki), keyType);
    assert.equal(weakness(spki), undefined);
    const input = inputFor(keyType, spki);
    const tbs = encodeTbs(input);
    const der = assemble(tbs, input.algorithm, sign(input.algorithm.digest, tbs, privateKey));
    const theirs = new X509Certificate(der);
    assert.ok(theirs.verify(publicKey));
    assert.equal(theirs.ca, false);
    const ours = parseCertificate(der);
    assert.equal(ours.serial, `01${'ab'.repeat(16)}`);
    assert.deepEqual(ours.sans, sans);
    assert.equal(formatDn(ours.subject), 'CN=leaf,O=Ünïcode\\, \\"Inc.\\"');
    assert.deepEqual([ours.notBefore, ours.notAfter], [input.notBefore, input.notAfter]);
    assert.deepEqual(
      ours.extensions.list,
      input.extensions
        .map((extension) => ({ ...extension, value: Buffer.from(extension.value) }))
        .map((e) => ({ ...e, value: new Uint8Array(e.value) })),
    );
    assert.deepEqual(
      lint(tbs, {
        name: input.issuerName,
        subjectKeyIdentifier: subjectKeyIdentifier(spki),
        notAfter: input.notAfter,
        family: ours.algorithm!.family,
      }),
      [],
    );
  });

test('every kind of extension round-trips', () => {
  const values: ExtensionValues = {
    basicConstraints: { isCa: true, pathLen: 0 },
    keyUsage: ['keyCertSign', 'cRLSign', 'decipherOnly'],
    extendedKeyUsage: ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'],
    subjectKeyIdentifier: 'abcd',
    authorityKeyIdentifier: 'ef01',
    subjectAltName: { names: sans, unsupported: [] },
    crlDistributionPoints: ['http://a/1.crl', 'ldap://b/cn=x?y'],
    authorityInfoAccess: { ocsp: ['http://o/'], crt: ['http://c/', 'http://d/'] },
    certificatePolicies: [
      { oid: '1.2.3', urls: ['http://cps/', 'http://cps2/'] },
      { oid: '1.2.4', urls: [] },
    ],
    ms_sid: 'S-1-5-21-3623811015-3361044348-30300820-1013',
    ms_template: 'WebServer é',
    ms_template_v2: '1.3.6.1.4.1.311.21.8.7:100:3',
  };
  const kinds = Object.keys(values) as ExtensionKind[];
  const { publicKey } = generateKeyPairSync('ed25519');
  const input = {
    ...inputFor('ed-25519', publicKey.export({ type: 'spki', format: 'der' })),
    extensions: kinds.map((kind) => encodeExtension(kind, values[kind], false)),
  };
  const tbs = encodeTbs(input);
  const read: Extensions = parseCertificate(assemble(tbs, input.algorithm, new Uint8Array(64))).extensions;
  for (const kind of kinds) assert.deepEqual(read[kind], values[kind], kind);
});

test('key usages round-trip in DER', () => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const base = inputFor('ed-25519', publicKey.export({ type: 'spki', format: 'der' }));
  const usages = [
    'digitalSignature',
    'nonRepudiation',
    'keyEncipherment',
    'dataEncipherment',
    'keyAgreement',
    'cRLSign',
    'encipherOnly',
    'decipherOnly',
  ] as const;
  fc.assert(
    fc.property(fc.subarray([...usages], { minLength: 1 }), (chosen) => {
      const extensions = base.extensions.map((each) => (each.oid === '2.5.29.15' ? encodeExtension('keyUsage', chosen, true) : each));
      assert.deepEqual(lint(encodeTbs({ ...base, extensions })), []);
    }),
  );
});

test('serials are positive, 17 octets, and minimal', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (random) => {
      const serial = newSerial(random);
      assert.equal(serial.length, 17);
      assert.equal(serial[0], 1);
    }),
  );
  assert.throws(() => newSerial(new Uint8Array(15)), RangeError);
});

test('names: bounds, alphabets and text', () => {
  const bad: readonly (readonly [string, string])[] = [
    ['c', 'FRA'],
    ['c', 'F1'],
    ['cn', ''],
    ['cn', 'x'.repeat(65)],
    ['e', 'é@example.com'],
    ['dc', 'é'],
    ['serialNumber', 'a_b'],
    ['cn', '\ud800'],
    ['nope', 'x'],
  ];
  for (const [type, value] of bad) assert.throws(() => encodeName([{ type, value }]), { name: 'InvalidValue' }, `${type}=${value}`);
  assert.doesNotThrow(() => encodeName([{ type: 'cn', value: '𝒳'.repeat(64) }]));
  const text = (value: string): string => formatDn(parseName(encodeName([{ type: 'cn', value }])));
  assert.equal(text(' #a '), 'CN=\\ #a\\ ');
  assert.equal(text('#a'), 'CN=\\#a');
  assert.equal(text('a\0b\nc'), 'CN=a\\00b\\0ac');
  assert.equal(text('a=b,c+d"e\\f<g>h;i'), 'CN=a=b\\,c\\+d\\"e\\\\f\\<g\\>h\\;i');
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 64, unit: 'binary' }).filter((value) => [...value].length <= 64 && value.isWellFormed()),
      (value) => {
        assert.equal(parseName(encodeName([{ type: 'CN', value }])).rdns[0]![0]!.value, value);
      },
    ),
  );
});

test('keys that were exported privately are read like others', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  const spki = createPublicKey(createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }))).export({
    type: 'spki',
    format: 'der',
  });
  assert.equal(keyTypeOf(spki), undefined);
});
