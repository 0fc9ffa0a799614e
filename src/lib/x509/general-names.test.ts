import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { readDer } from '../der/read.ts';
import * as write from '../der/write.ts';
import { encodeGeneralNames, readGeneralNames, type SanType } from './general-names.ts';
import { formatIp, parseIp } from './ip-address.ts';

const taken = (type: SanType, value: string): boolean => {
  try {
    assert.deepEqual(readGeneralNames(readDer(encodeGeneralNames([{ type, value }]))).names.length, 1);
    return true;
  } catch {
    return false;
  }
};

const CASES: Readonly<Record<SanType, { readonly good: readonly string[]; readonly bad: readonly string[] }>> = {
  DNSNAME: {
    good: ['a', 'a.b', '*.example.com', 'xn--bcher-kva.example', 'A-1.example', `${'a'.repeat(63)}.b`],
    bad: [
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      '-a.b',
      'a-.b',
      'a_b.c',
      '*',
      '*.',
      'a.*.b',
      '*a.b',
      'bücher.de',
      'a b',
      'a\0.b',
      '1.2.3.4',
      `${'a'.repeat(64)}.b`,
      `${'a.'.repeat(127)}`,
    ],
  },
  RFC822NAME: {
    good: ['a@b.c', 'a.b+c@d.e'],
    bad: ['', 'a', '@b', 'a@', 'a@b@c', 'é@b.c', 'a..b@c', 'a@*.b', 'a b@c', 'a\n@b', '"a b"@c'],
  },
  URI: {
    good: ['http://a/b', 'urn:uuid:1', 'spiffe://a/b', 'x:%41'],
    bad: ['', 'a', '/a', '//a/b', 'http:', 'http://', 'http://a b', 'http://é', 'x:%4', 'http://?q', 'x:\n'],
  },
  IPADDRESS: {
    good: ['1.2.3.4', '::', '::1', '2001:DB8::1', '::ffff:1.2.3.4'],
    bad: ['', '1.2.3', '01.2.3.4', '1.2.3.256', '1:2', ':::', '1::2::3', '::g', 'fe80::1%eth0', '1.2.3.4/8'],
  },
  OTHERNAME_UPN: { good: ['a@b', 'ü.x@realm'], bad: ['', 'a', 'a@b@c', 'a\0@b', '\ud800@b'] },
  OTHERNAME_GUID: { good: ['00112233445566778899aabbccddeeff'], bad: ['', '00', 'g'.repeat(32), '00112233-4455-6677-8899-aabbccddeeff'] },
  REGISTERED_ID: { good: ['1.2.3'], bad: ['', '1', '1.40.', 'a'] },
};

for (const [type, { good, bad }] of Object.entries(CASES) as [SanType, (typeof CASES)[SanType]][])
  test(`${type}: taken and refused`, () => {
    for (const value of good) assert.ok(taken(type, value), value);
    for (const value of bad) assert.ok(!taken(type, value), value);
  });

test('addresses: the same texts as node knows, and canonical ones', () => {
  const hex = fc
    .array(fc.constantFrom('0', '1', 'ab', 'ffff', '', '::', '1.2.3.4', '00000'), { maxLength: 9 })
    .map((groups) => groups.join(':'));
  fc.assert(
    fc.property(hex, (text) => assert.equal(parseIp(text) !== undefined, isIPv6(text) || isIPv4(text), text)),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.array(fc.constantFrom(0, 0, 0, 1, 255), { minLength: 16, maxLength: 16 }), (octets) => {
      const text = formatIp(Uint8Array.from(octets))!;
      assert.deepEqual(parseIp(text), Uint8Array.from(octets), text);
      if (!text.includes('.')) assert.equal(`[${text}]`, new URL(`http://[${text}]/`).hostname);
    }),
    { numRuns: 2000 },
  );
  assert.equal(formatIp(new Uint8Array(16)), '::');
  assert.equal(formatIp(new Uint8Array(5)), undefined);
});

test('reading keeps what it cannot name, and cuts nothing off', () => {
  const directory = write.contextExplicit(4, write.sequence());
  const nul = write.contextImplicit(2, Buffer.from('a\0b, DNS:c'));
  const read = readGeneralNames(readDer(write.sequence(directory, nul)));
  assert.deepEqual(read, { names: [{ type: 'DNSNAME', value: 'a\0b, DNS:c' }], unsupported: [directory] });
  const bad = [
    write.contextImplicit(7, new Uint8Array(5)),
    write.contextImplicit(2, Buffer.from('é')),
    write.contextImplicit(9, new Uint8Array(1)),
    write.nullValue(),
  ];
  for (const name of bad) assert.throws(() => readGeneralNames(readDer(write.sequence(name))), { name: 'DerError' });
  assert.throws(() => readGeneralNames(readDer(write.sequence())), { name: 'DerError' });
});

test('a list of names may be long', () => {
  const names = new Array(200_000).fill({ type: 'DNSNAME', value: 'a' });
  assert.equal(encodeGeneralNames(names).length, 600_004 + 1);
});
