import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { readDer } from '../der/read.ts';
import * as write from '../der/write.ts';
import { algorithmName } from './algorithm.ts';
import { isSelfIssued, parseCertificate, sha1Hex, sha256Hex } from './certificate.ts';
import { certificateNames, derOf } from './fixtures/fixtures.ts';
import { formatDn } from './name.ts';

const upperColons = (hex: string): string => hex.toUpperCase().replace(/..(?=.)/g, '$&:');

for (const name of certificateNames)
  test(`${name}: node reads the same`, () => {
    const ours = parseCertificate(derOf(name));
    const theirs = new X509Certificate(ours.der);
    const { extensions } = ours;
    assert.equal(ours.serial.toUpperCase(), theirs.serialNumber);
    assert.equal(ours.notBefore, Date.parse(theirs.validFrom));
    assert.equal(ours.notAfter, Date.parse(theirs.validTo));
    assert.equal(upperColons(sha256Hex(ours.der)), theirs.fingerprint256);
    assert.equal(upperColons(sha1Hex(ours.der)), theirs.fingerprint);
    assert.equal(extensions.basicConstraints?.isCa === true, theirs.ca);
    assert.deepEqual(extensions.extendedKeyUsage, theirs.keyUsage);
    assert.deepEqual(Buffer.from(ours.spki), theirs.publicKey.export({ type: 'spki', format: 'der' }));
    assert.equal(isSelfIssued(ours), theirs.subject === theirs.issuer);
    assert.deepEqual(
      [...ours.subject.rdns.flat()].map(({ value }) => value).sort(),
      Object.values(theirs.toLegacyObject().subject ?? {})
        .flat()
        .sort(),
    );
    assert.equal(algorithmName(ours.algorithmDer), ours.algorithm?.name);
  });

test('extensions, names and alternative names of a rich leaf', () => {
  const { extensions, sans, subject, issuer, publicKey } = parseCertificate(derOf('rsa'));
  assert.equal(publicKey.keyType, 'rsa-2048');
  assert.equal(formatDn(issuer), 'CN=Example Root,OU=PKI \\+ CA,O=Example\\, Inc.,C=FR');
  assert.equal(formatDn(subject), 'DC=com,UID=u1,SERIALNUMBER=42,E=a@example.com,CN=www.example.com,OU=a,O=Ünïcode,L=Paris,ST=Île,C=FR');
  assert.deepEqual(
    sans.map(({ type, value }) => `${type} ${value}`),
    [
      'DNSNAME www.example.com',
      'DNSNAME *.example.org',
      'RFC822NAME a.b@example.com',
      'URI https://example.com/x?y=1',
      'IPADDRESS 192.0.2.1',
      'IPADDRESS 2001:db8::1',
      'REGISTERED_ID 1.2.3.4',
      'OTHERNAME_UPN user@example.com',
    ],
  );
  assert.equal(extensions.subjectAltName?.unsupported.length, 1);
  assert.deepEqual(extensions.keyUsage, ['digitalSignature', 'keyEncipherment']);
  assert.deepEqual(extensions.crlDistributionPoints, ['http://crl.example.com/ca.crl']);
  assert.deepEqual(extensions.authorityInfoAccess, { ocsp: ['http://ocsp.example.com'], crt: ['http://example.com/ca.crt'] });
  assert.deepEqual(extensions.certificatePolicies, [
    { oid: '2.23.140.1.2.1', urls: [] },
    { oid: '1.2.3.4.5', urls: ['https://example.com/cps'] },
  ]);
  assert.equal(extensions.authorityKeyIdentifier, parseCertificate(derOf('ca')).extensions.subjectKeyIdentifier);
});

test("Microsoft's extensions", () => {
  const { extensions, sans } = parseCertificate(derOf('ms'));
  assert.equal(extensions.ms_sid, 'S-1-5-21-1-2-3-1105');
  assert.equal(extensions.ms_template, 'WebServer');
  assert.equal(extensions.ms_template_v2, '1.3.6.1.4.1.311.21.8.1.2.3:100:12');
  assert.deepEqual(sans, [{ type: 'OTHERNAME_GUID', value: '00112233445566778899aabbccddeeff' }]);
});

test('an authority: path length, and an extension that is not known', () => {
  const { extensions } = parseCertificate(derOf('ca'));
  assert.deepEqual(extensions.basicConstraints, { isCa: true, pathLen: 1 });
  assert.deepEqual(
    extensions.unsupported.map(({ oid }) => oid),
    ['2.5.29.30'],
  );
});

test('a multi-valued RDN', () => assert.equal(formatDn(parseCertificate(derOf('p384')).subject), 'O=x,CN=a+OU=b'));

/** The p256 fixture with one thing about it changed. */
test('refused: data after the end, differing algorithms, extensions twice, extensions of version 1', () => {
  const { der, tbs, signature, algorithmDer } = parseCertificate(derOf('p256'));
  assert.throws(() => parseCertificate(Buffer.concat([der, Buffer.of(0)])), /data after the end/);
  const other = write.sequence(write.oid('1.2.840.10045.4.3.2'));
  assert.throws(() => parseCertificate(write.sequence(tbs, other, write.bitString(signature))), /algorithms of the certificate differ/);
  const parts: Uint8Array[] = [];
  for (let offset = readDer(tbs).content; offset < tbs.length; offset += parts.at(-1)!.length) {
    const end = offset + 2 + (tbs[offset + 1]! < 0x80 ? tbs[offset + 1]! : tbs[offset + 1] === 0x81 ? tbs[offset + 2]! + 1 : 0);
    parts.push(tbs.subarray(offset, end));
  }
  const [, ...withoutVersion] = parts;
  const rebuild = (fields: readonly Uint8Array[]): Uint8Array =>
    write.sequence(write.sequence(...fields), algorithmDer, write.bitString(signature));
  assert.throws(() => parseCertificate(rebuild(withoutVersion)), /extensions before version 3/);
  const extension = write.sequence(write.oid('1.2.3.4'), write.octetString(write.nullValue()));
  const twice = write.contextExplicit(3, write.sequence(extension, extension));
  assert.throws(() => parseCertificate(rebuild([...parts.slice(0, -1), twice])), /1\.2\.3\.4 occurs twice/);
  assert.equal(parseCertificate(rebuild(parts)).serial, parseCertificate(der).serial);
});
