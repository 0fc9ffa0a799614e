import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, generatePrimeSync } from 'node:crypto';
import { test } from 'node:test';
import * as write from '../der/write.ts';
import { weakness } from './key-check.ts';
import { keyTypeOf } from './key-type.ts';

const rsaSpki = (n: bigint, e = 65537n, parameters = [write.nullValue()]): Uint8Array =>
  write.sequence(
    write.sequence(write.oid('1.2.840.113549.1.1.1'), ...parameters),
    write.bitString(write.sequence(write.integer(n), write.integer(e))),
  );

const prime = (bits: number): bigint => generatePrimeSync(bits, { bigint: true });
const good = prime(1024) * prime(1024);

/** The prime that follows a number, by Fermat's test to base 2: near enough for a modulus that nobody uses. */
function nextPrime(from: bigint): bigint {
  let candidate = from | 1n;
  while (powerModulo(2n, candidate - 1n, candidate) !== 1n) candidate += 2n;
  return candidate;
}

function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let square = base % modulus, rest = exponent; rest > 0n; rest >>= 1n, square = (square * square) % modulus)
    if (rest & 1n) result = (result * square) % modulus;
  return result;
}

test('RSA: sizes and exponents', () => {
  assert.equal(weakness(rsaSpki(good)), undefined);
  assert.equal(keyTypeOf(rsaSpki(good)), 'rsa-2048');
  assert.match(weakness(rsaSpki(prime(512) * prime(512)))!, /1024 bits/);
  assert.match(weakness(rsaSpki(good >> 1n))!, /2047 bits/);
  assert.match(weakness(rsaSpki((1n << 16384n) + 1n))!, /16385 bits/);
  assert.match(weakness(rsaSpki(good + 1n))!, /modulus is even/);
  for (const e of [1n, 2n, 3n, 17n, 65535n, 65538n]) assert.match(weakness(rsaSpki(good, e))!, /exponent is even or below/);
  assert.match(weakness(rsaSpki(good, (1n << 256n) + 1n))!, /above 2\^256/);
  assert.match(weakness(rsaSpki(good, -65537n))!, /malformed/);
  assert.match(weakness(rsaSpki(good, 65537n, []))!, /without its parameters/);
});

test('RSA: small factors, close primes, ROCA', () => {
  assert.match(weakness(rsaSpki(1999n * prime(2040)))!, /small factor|2047 bits|2050|2051/);
  assert.match(weakness(rsaSpki(1999n * prime(1030) * prime(1030)))!, /small factor/);
  const p = prime(1024);
  assert.match(weakness(rsaSpki(p * nextPrime(p + 2n)))!, /too close/);
  assert.match(weakness(rsaSpki(p * p))!, /too close/);
  let m = 1n;
  for (let candidate = 2n; candidate < 168n; candidate++) if (powerModulo(2n, candidate, candidate) === 2n % candidate) m *= candidate;
  const roca = (1n << 2047n) - ((1n << 2047n) % m) + m + powerModulo(65537n, 12345n, m);
  assert.match(weakness(rsaSpki(roca))!, /ROCA/);
});

test('EC: form, curve, point', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  assert.equal(weakness(spki), undefined);
  const off = Buffer.from(spki);
  off[off.length - 1]! ^= 1;
  assert.match(weakness(off)!, /not on the curve/);
  const p256 = write.sequence(write.oid('1.2.840.10045.2.1'), write.oid('1.2.840.10045.3.1.7'));
  const compressed = write.sequence(p256, write.bitString(Buffer.concat([Buffer.of(2 + (spki.at(-1)! & 1)), spki.subarray(-64, -32)])));
  assert.ok(createPublicKey({ key: Buffer.from(compressed), format: 'der', type: 'spki' }));
  assert.match(weakness(compressed)!, /uncompressed/);
  assert.match(weakness(write.sequence(p256, write.bitString(Uint8Array.of(0))))!, /uncompressed/);
  const explicit = write.sequence(write.oid('1.2.840.10045.2.1'), write.sequence(write.integer(1n)));
  assert.match(weakness(write.sequence(explicit, write.bitString(spki.subarray(-65))))!, /not named/);
  for (const namedCurve of ['brainpoolP256r1', 'brainpoolP384r1', 'brainpoolP512r1', 'P-384', 'P-521']) {
    const bytes = generateKeyPairSync('ec', { namedCurve }).publicKey.export({ type: 'spki', format: 'der' });
    assert.equal(weakness(bytes), undefined);
    bytes[bytes.length - 2]! ^= 4;
    assert.match(weakness(bytes)!, /not on the curve/, namedCurve);
  }
});

/** The last octets of a SubjectPublicKeyInfo are the point. */
const withPoint = (spki: Buffer, octets: Buffer): Buffer => Buffer.concat([spki.subarray(0, -octets.length), octets]);

test('EC: the same points as OpenSSL takes', () => {
  const fields = {
    'P-256': 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    'P-384': 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
  };
  for (const [namedCurve, p] of Object.entries({ ...fields, 'P-521': 2n ** 521n - 1n })) {
    const size = Math.ceil(p.toString(16).length / 2);
    const octets = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(size * 2, '0'), 'hex');
    for (let i = 0; i < 20; i++) {
      const spki = generateKeyPairSync('ec', { namedCurve }).publicKey.export({ type: 'spki', format: 'der' });
      const [x, y] = [spki.subarray(-2 * size, -size), spki.subarray(-size)];
      const [xValue, yValue] = [BigInt(`0x${x.toString('hex')}`), BigInt(`0x${y.toString('hex')}`)];
      const points: readonly (readonly [Buffer, Buffer])[] = [
        [x, y],
        [x, octets(p - yValue)],
        [y, x],
        [x, octets(yValue ^ 1n)],
        [octets(xValue + 1n), y],
        [Buffer.alloc(size), Buffer.alloc(size)],
        [octets(p), y],
        [x, Buffer.alloc(size, 0xff)],
      ];
      for (const [one, other] of points) {
        const bytes = withPoint(spki, Buffer.concat([one, other]));
        assert.equal(weakness(bytes) === undefined, isReadable(bytes), `${namedCurve} ${bytes.toString('hex')}`);
      }
    }
  }
});

function isReadable(spki: Buffer): boolean {
  try {
    createPublicKey({ key: spki, format: 'der', type: 'spki' });
    return true;
  } catch {
    return false;
  }
}

test('others: unknown, malformed, of a wrong length', () => {
  const ed = write.sequence(write.oid('1.3.101.112'));
  assert.match(weakness(write.sequence(ed, write.bitString(new Uint8Array(31))))!, /wrong length/);
  assert.match(weakness(write.sequence(write.sequence(write.oid('1.2.840.10040.4.1')), write.bitString(new Uint8Array(31))))!, /unknown/);
  assert.match(weakness(Uint8Array.of(1, 2, 3))!, /malformed/);
  assert.equal(keyTypeOf(rsaSpki((1n << 2559n) + 1n)), undefined);
});
