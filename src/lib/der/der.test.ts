import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromHex } from './octets.ts';
import { decodeOid, encodeOid } from './oid.ts';
import * as read from './read.ts';
import { requireWellFormed } from './well-formed.ts';
import * as write from './write.ts';

const der = (hex: string): read.Der => read.readDer(fromHex(hex.replaceAll(' ', ''))!);
const ascii = (tag: number, text: string): read.Der => read.readDer(write.raw(tag, Buffer.from(text, 'latin1')));

/** Inputs that must be refused, with what reads them. */
const refused: Readonly<Record<string, readonly [string, (element: read.Der) => unknown]>> = {
  'nothing at all': ['', read.rawOf],
  'a tag alone': ['30', read.rawOf],
  'indefinite length': ['30800000', read.rawOf],
  'length in too many octets': ['30810100', read.rawOf],
  'length with a leading zero': [`04820080${'00'.repeat(128)}`, read.rawOf],
  'length past the end': ['3003020101ff'.slice(0, 8), read.rawOf],
  'length of 2^32': ['3085010000000000', read.rawOf],
  'length ff': ['30ff00', read.rawOf],
  'data after the end': ['020101 00', read.rawOf],
  'end of contents': ['0000', read.rawOf],
  'a high tag that is low': ['1f1e00', read.rawOf],
  'a high tag with a leading zero': ['1f801f00', read.rawOf],
  'a tag without an end': ['1fffffff', read.rawOf],
  'a tag of four octets': ['1f8181817f00', read.rawOf],
  'a child past its parent': ['30030203010101'.slice(0, 10), read.childrenOf],
  'children of a primitive element': ['0400', read.childrenOf],
  'BOOLEAN 01': ['010101', read.booleanOf],
  'BOOLEAN of two octets': ['0102ffff', read.booleanOf],
  'INTEGER without contents': ['0200', read.integerOf],
  'INTEGER 0001': ['02020001', read.integerOf],
  'INTEGER ffff': ['0202ffff', read.integerOf],
  'BIT STRING without contents': ['0300', read.bitStringOf],
  'BIT STRING with 8 unused bits': ['03020800', read.bitStringOf],
  'BIT STRING with unused bits of nothing': ['030101', read.bitStringOf],
  'BIT STRING with unused bits that are set': ['03020101', read.bitStringOf],
  'constructed OCTET STRING': ['2400', read.octetStringOf],
  'NULL with contents': ['050100', read.requireNull],
  'OID without contents': ['0600', read.oidOf],
  'OID cut off': ['060186', read.oidOf],
  'OID with a padded arc': ['06032a8001', read.oidOf],
  'primitive SEQUENCE': ['1000', requireWellFormed],
  'constructed INTEGER': ['2203020101', requireWellFormed],
  'a bad BOOLEAN deep inside': ['30053003010101', requireWellFormed],
  'half a BMP character': ['1e0100', requireWellFormed],
  'OID of 129 octets': [`0681812a${'01'.repeat(128)}`, read.oidOf],
  'OID with an arc of 21 octets': [`06162a${'ff'.repeat(20)}01`, read.oidOf],
};

for (const [name, [hex, reader]] of Object.entries(refused))
  test(`refused: ${name}`, () => assert.throws(() => reader(der(hex)), read.DerError));

test('an error says where', () => {
  assert.throws(
    () => read.itemsOf(der('3006 020101 020a01')),
    (error) => error instanceof read.DerError && error.offset === 7,
  );
});

test('times', () => {
  assert.equal(read.timeOf(ascii(0x17, '500101000000Z')), Date.UTC(1950, 0, 1));
  assert.equal(read.timeOf(ascii(0x17, '491231235959Z')), Date.UTC(2049, 11, 31, 23, 59, 59));
  assert.equal(read.timeOf(ascii(0x18, '99991231235959Z')), 253402300799000);
  assert.equal(read.timeOf(ascii(0x18, '20240229000000Z')), Date.UTC(2024, 1, 29));
  assert.equal(new Date(read.timeOf(ascii(0x18, '00500101000000Z'))).getUTCFullYear(), 50);
  const bad = ['2502290000Z', '230229000000Z', '230001000000Z', '231301000000Z', '230100000000Z', '230101240000Z', '230101006000Z'];
  const worse = ['230101000060Z', '2301010000Z', '230101000000+0000', '230101000000.5Z', '2301010000 0Z', '23010100000aZ', '230431000000Z'];
  for (const text of [...bad, ...worse]) assert.throws(() => read.timeOf(ascii(0x17, text)), read.DerError, text);
  assert.throws(() => read.timeOf(ascii(0x18, '230101000000Z')), read.DerError);
});

test('depth, number of elements and size are bounded', () => {
  let nested = write.sequence();
  for (let i = 0; i < 100; i++) nested = write.sequence(nested);
  const descend = (element: read.Der): void => read.childrenOf(element).forEach(descend);
  assert.throws(() => descend(read.readDer(nested)), /nested deeper than 32/);
  const wide = write.raw(0x30, Buffer.alloc(1_000_000, Buffer.from('0500', 'hex')));
  assert.throws(() => read.childrenOf(read.readDer(wide)), /too many elements/);
  assert.throws(() => read.readDer(new Uint8Array(1_048_577)), /larger than 1048576 octets/);
  let count = 0;
  const parent = read.readDer(wide);
  for (let offset = parent.content; offset < parent.end; offset = read.readChild(parent, offset).end) count++;
  assert.equal(count, 500_000);
});

test('integers round-trip', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(1n << 130n), max: 1n << 130n }), (value) => {
      assert.equal(read.integerOf(read.readDer(write.integer(value))), value);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 30 }), (octets) => {
      const value = BigInt(`0x${Buffer.from(octets).toString('hex')}`);
      assert.deepEqual(write.integer(octets), write.integer(value));
    }),
  );
  for (const [value, hex] of [
    [0n, '020100'],
    [127n, '02017f'],
    [128n, '02020080'],
    [-1n, '0201ff'],
    [-128n, '020180'],
    [-129n, '0202ff7f'],
    [256n, '02020100'],
  ] as const)
    assert.equal(Buffer.from(write.integer(value)).toString('hex'), hex);
});

test('times round-trip', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }), (seconds) => {
      assert.equal(read.timeOf(read.readDer(write.time(seconds * 1000))), seconds * 1000);
    }),
  );
  assert.equal(write.time(Date.UTC(2049, 11, 31))[0], 0x17);
  assert.equal(write.time(Date.UTC(2050, 0, 1))[0], 0x18);
  assert.equal(write.time(Date.UTC(1949, 11, 31))[0], 0x18);
  assert.throws(() => write.time(Number.NaN), RangeError);
  assert.throws(() => write.time(Date.UTC(10_000, 0, 1)), RangeError);
});

test('object identifiers round-trip', () => {
  const arc = fc.oneof(fc.bigInt({ min: 0n, max: (1n << 139n) - 1n }), fc.bigInt({ min: 0n, max: 300n }));
  const text = fc
    .tuple(fc.integer({ min: 0, max: 2 }), fc.bigInt({ min: 0n, max: 39n }), fc.array(arc, { maxLength: 6 }))
    .map(([root, second, rest]) => [root, second, ...rest].join('.'));
  fc.assert(fc.property(text, (oid) => assert.equal(read.oidOf(read.readDer(write.oid(oid))), oid)));
  assert.equal(read.oidOf(der('0603883703')), '2.999.3');
  for (const bad of ['', '1', '3.1', '1.40', '1.2.', '1.02', '1.2.-3', 'a.b', `1.2.${1n << 140n}`])
    assert.equal(encodeOid(bad), undefined, bad);
  const octets = encodeOid('2.5.4.3')!;
  assert.equal(decodeOid(octets, 0, 3), '2.5.4.3');
});

test('elements round-trip', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70_000, size: 'max' }), fc.constantFrom(0x04, 0x80, 0x16), (contents, tag) => {
      assert.deepEqual(read.contentOf(read.readDer(write.raw(tag, contents))), contents);
    }),
    { numRuns: 50 },
  );
  const members = [write.utf8String('b'), write.utf8String('a'), write.bool(true), write.nullValue()];
  const sorted = read.itemsOf(read.readDer(write.set(...members)), 0x31).map(read.rawOf);
  assert.deepEqual(
    sorted.map((member) => member[0]),
    [0x01, 0x05, 0x0c, 0x0c],
  );
  assert.equal(read.onlyItemOf(read.readDer(write.contextExplicit(3, write.nullValue())), 0xa3).tag, 0x05);
  assert.throws(() => write.printableString('a@b'), RangeError);
  assert.throws(() => write.ia5String('é'), RangeError);
});

test('whatever the bytes: an element or a DerError', () => {
  const readers = [read.booleanOf, read.integerOf, read.bitStringOf, read.oidOf, read.timeOf, read.childrenOf, read.smallIntegerOf];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(1, 2, 3, 6, 0x17, 0x18, 0x30), (bytes, tag) => {
      for (const [input, reader] of readers.flatMap((each) => [[bytes, each] as const, [write.raw(tag, bytes), each] as const]))
        try {
          reader(read.readDer(input));
        } catch (error) {
          assert.ok(error instanceof read.DerError);
        }
    }),
    { numRuns: 3000 },
  );
});
