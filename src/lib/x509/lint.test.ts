import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { bitString, contextExplicit, contextImplicit, ia5String, nullValue, octetString, sequence } from '../der/write.ts';
import { findAlgorithmByName } from './algorithm.ts';
import { encodeTbs, newSerial, type TbsInput } from './build.ts';
import { type Extension, encodeExtension } from './extensions.ts';
import { lint } from './lint.ts';
import { encodeName } from './name.ts';

const spki = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' });
const aki = encodeExtension('authorityKeyIdentifier', 'aabb', false);

const clean: TbsInput = {
  serial: newSerial(new Uint8Array(16)),
  algorithm: findAlgorithmByName('ED25519')!,
  issuerName: encodeName([{ type: 'cn', value: 'issuer' }]),
  subjectName: encodeName([{ type: 'cn', value: 'leaf' }]),
  notBefore: 0,
  notAfter: 1000,
  spki,
  extensions: [aki],
};

const withExtensions = (...extensions: readonly Extension[]): Partial<TbsInput> => ({ extensions: [aki, ...extensions] });
const of = (oid: string, value: Uint8Array, critical = false): Extension => ({ oid, value, critical });
const empty = encodeName([]);
const ca = encodeExtension('basicConstraints', { isCa: true }, true);
const certSign = encodeExtension('keyUsage', ['keyCertSign'], true);
const san = encodeExtension('subjectAltName', { names: [{ type: 'DNSNAME', value: 'a.b' }], unsupported: [] }, false);

const FINDINGS: readonly (readonly [RegExp, Partial<TbsInput>])[] = [
  [/more than 20 octets/, { serial: new Uint8Array(20).fill(0xff) }],
  [/serial number is zero/, { serial: new Uint8Array(1) }],
  [/SHA-1/, { algorithm: findAlgorithmByName('SHA1WITHRSA')! }],
  [/notAfter is not after/, { notAfter: 0 }],
  [/issuer is empty/, { issuerName: empty }],
  [/neither a subject/, { subjectName: empty }],
  [/is not critical, and the subject/, { subjectName: empty, ...withExtensions(san) }],
  [/control character/, { subjectName: encodeName([{ type: 'cn', value: 'a\0b' }]) }],
  [/no authority key identifier/, { extensions: [] }],
  [/authorityKeyIdentifier is critical/, { extensions: [{ ...aki, critical: true }] }],
  [/without keyCertSign/, withExtensions(ca)],
  [/without a subject key identifier/, withExtensions(ca, certSign)],
  [/of an authority are not critical/, withExtensions({ ...ca, critical: false }, certSign)],
  [/keyCertSign without an authority/, withExtensions(certSign)],
  [/path length without/, withExtensions(of('2.5.29.19', sequence(Uint8Array.of(2, 1, 0))))],
  [/basic constraints are not in DER/, withExtensions(of('2.5.29.19', sequence(Uint8Array.of(1, 1, 0))))],
  [/key usage is empty/, withExtensions(of('2.5.29.15', bitString(Uint8Array.of(0))))],
  [/key usage is not in DER/, withExtensions(of('2.5.29.15', bitString(Uint8Array.of(0x80), 0)))],
  [/invalid DNSNAME "a b"/, withExtensions(of('2.5.29.17', sequence(contextImplicit(2, Buffer.from('a b')))))],
  [/alternative name of a kind/, withExtensions(of('2.5.29.17', sequence(contextExplicit(4, sequence()))))],
  [/not an absolute URI/, withExtensions(of('1.3.6.1.5.5.7.1.1', sequence(sequence(encodeOcsp(), contextImplicit(6, Buffer.from('/x'))))))],
  [/critical and unknown/, withExtensions(of('1.2.3', nullValue(), true))],
  [/empty SEQUENCE/, withExtensions(of('2.5.29.37', sequence()))],
  [/empty GeneralNames/, withExtensions(of('2.5.29.17', sequence()))],
  [/empty SEQUENCE/, withExtensions(of('2.5.29.32', sequence()))],
  [/occurs twice/, withExtensions(aki)],
  [/character string/, withExtensions(of('2.5.29.17', sequence(contextImplicit(2, Uint8Array.of(0xe9)))))],
  [/subject key identifier is empty/, withExtensions(of('2.5.29.14', octetString(new Uint8Array(0))))],
  [/tag 4 expected/, withExtensions(of('2.5.29.14', ia5String('x')))],
];

function encodeOcsp(): Uint8Array {
  return Uint8Array.of(0x06, 8, 0x2b, 6, 1, 5, 5, 7, 48, 1);
}

test('nothing to say of a clean one', () => assert.deepEqual(lint(encodeTbs(clean)), []));

for (const [finding, change] of FINDINGS)
  test(`found: ${finding.source}`, () => {
    const findings = lint(encodeTbs({ ...clean, ...change }));
    assert.ok(
      findings.some((text) => finding.test(text)),
      findings.join('; '),
    );
  });

test('found: a default value written out', () => {
  const tbs = Buffer.from(encodeTbs({ ...clean, extensions: [{ ...aki, critical: true }] }));
  const at = tbs.indexOf(Buffer.of(0x01, 0x01, 0xff));
  tbs[at + 2] = 0x00;
  assert.deepEqual(lint(tbs), ['an unusual element, or a default value written out']);
});

test('what does not fit the issuer', () => {
  const issuer = {
    name: encodeName([{ type: 'cn', value: 'other' }]),
    subjectKeyIdentifier: 'cc',
    notBefore: 1000,
    notAfter: 0,
    family: 'ec',
  } as const;
  assert.equal(lint(encodeTbs(clean), issuer).length, 5);
  assert.deepEqual(
    lint(encodeTbs(clean), { name: clean.issuerName, subjectKeyIdentifier: 'aabb', notBefore: 0, notAfter: 1000, family: 'ed-25519' }),
    [],
  );
});

test('bytes that are no certificate', () => assert.match(lint(Uint8Array.of(0))[0]!, /not a TBSCertificate/));
