/** Mutated certificates and requests: our parsers give a value or a DerError, in time, and take nothing that node refuses. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { DerError } from '../der/read.ts';
import { type Certificate, parseCertificate, sha256Hex } from './certificate.ts';
import { parseCsr } from './csr.ts';
import { certificateNames, derOf, requestNames } from './fixtures/fixtures.ts';
import type { SanType } from './general-names.ts';
import { weakness } from './key-check.ts';
import { lint } from './lint.ts';
import { formatDn, type Name } from './name.ts';
import { parsePem } from './pem.ts';

const FUZZ = Number(process.env['PERENNIAL_FUZZ'] ?? 10_000);
const SLOWEST_MS = 100;

/** Mulberry32: a failure is found again by its number. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Random = (below: number) => number;

const MUTATIONS: readonly ((bytes: Buffer, random: Random) => Buffer)[] = [
  (bytes, random) => changed(bytes, random(bytes.length), (octet) => octet ^ (1 << random(8))),
  (bytes, random) => changed(bytes, random(bytes.length), () => random(256)),
  (bytes, random) => changed(bytes, random(bytes.length), () => [0x00, 0xff, 0x80, 0x7f, 0x30, 0x05, 0x1f][random(7)]!),
  (bytes, random) => bytes.subarray(0, random(bytes.length)),
  (bytes, random) => splice(bytes, random(bytes.length), 0, Buffer.of(random(256))),
  (bytes, random) => splice(bytes, random(bytes.length), 1 + random(4), Buffer.alloc(0)),
  (bytes, random) => {
    const start = random(bytes.length);
    return splice(bytes, random(bytes.length), 0, bytes.subarray(start, start + random(40)));
  },
];

function changed(bytes: Buffer, at: number, change: (octet: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = change(copy[at]!);
  return copy;
}

const splice = (bytes: Buffer, at: number, remove: number, insert: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);

function mutants(names: readonly string[], count: number, run: (bytes: Buffer, seed: number) => void): void {
  const fixtures = names.map((name) => Buffer.from(derOf(name)));
  for (let seed = 0; seed < count; seed++) {
    const random = randomFrom(seed);
    let bytes: Buffer = fixtures[random(fixtures.length)]!;
    for (let rounds = 1 + random(3); rounds > 0 && bytes.length > 0; rounds--) bytes = MUTATIONS[random(MUTATIONS.length)]!(bytes, random);
    const start = process.cpuUsage();
    run(bytes, seed);
    // CPU time: a busy machine is no slow parser.
    assert.ok(process.cpuUsage(start).user < SLOWEST_MS * 1000, `seed ${seed} is slow`);
  }
}

/** What `parse` makes of the bytes; undefined when it refuses them in the one way it may. */
function accepted<T>(parse: (bytes: Uint8Array) => T, bytes: Uint8Array, seed: number): T | undefined {
  try {
    return parse(bytes);
  } catch (error) {
    assert.ok(error instanceof DerError, `seed ${seed}: ${error}`);
    return undefined;
  }
}

function readByNode(bytes: Uint8Array, seed: number): X509Certificate {
  try {
    return new X509Certificate(bytes);
  } catch (cause) {
    throw new Error(`seed ${seed}: taken by us and refused by node`, { cause });
  }
}

const upperColons = (hex: string): string => hex.toUpperCase().replace(/..(?=.)/g, '$&:');

/** What node says of a certificate, and what we do. */
function compared(ours: Certificate, theirs: X509Certificate): Readonly<Record<string, readonly [ours: unknown, theirs: unknown]>> {
  const { basicConstraints, keyUsage, extendedKeyUsage, unsupported } = ours.extensions;
  const { subject, issuer } = theirs.toLegacyObject();
  const signs = keyUsage === undefined || keyUsage.includes('keyCertSign');
  // OpenSSL takes nobody for an authority whose name constraints it cannot read; here they are not read.
  const isReadable = theirs.ca || unsupported.length === 0;
  return {
    serial: [ours.serial.toUpperCase(), theirs.serialNumber],
    notBefore: [ours.notBefore, theirs.validFromDate.getTime()],
    notAfter: [ours.notAfter, theirs.validToDate.getTime()],
    fingerprint: [upperColons(sha256Hex(ours.der)), theirs.fingerprint256],
    subject: [textsOf(ours.subject), isText(ours.subject) ? legacyTexts(subject) : undefined],
    issuer: [textsOf(ours.issuer), isText(ours.issuer) ? legacyTexts(issuer) : undefined],
    purposes: [extendedKeyUsage, theirs.keyUsage],
    ca: [basicConstraints?.isCa === true && signs && isReadable, theirs.ca],
    sans: [sansOf(ours), legacySans(theirs)],
  };
}

const isText = (name: Name): boolean => name.rdns.flat().every((attribute) => attribute.isText);
const textsOf = (name: Name) => (isText(name) ? name.rdns.flatMap((rdn) => rdn.map(({ value }) => value)).sort() : undefined);
const legacyTexts = (name: object) => Object.values(name).flat().sort();

const prefixes: Partial<Record<SanType, string>> = { DNSNAME: 'DNS:', RFC822NAME: 'email:', URI: 'URI:', REGISTERED_ID: 'Registered ID:' };
const sansOf = ({ sans }: Certificate) => sans.flatMap(({ type, value }) => (prefixes[type] ? [prefixes[type] + value] : []));
/** Split at commas outside quotes, which node puts around what could be misread. */
const legacySans = ({ subjectAltName = '' }: X509Certificate) =>
  [
    ...subjectAltName.matchAll(
      /(DNS|email|URI|Registered ID):(?:("(?:[^"\\]|\\.)*")|([^,]*))(?:, |$)|[^,"]*(?:"(?:[^"\\]|\\.)*")?(?:, |$)/g,
    ),
  ].flatMap(([, type, quoted, plain]) => (type ? [`${type}:${quoted === undefined ? plain : JSON.parse(quoted)}`] : []));

test('certificates: a value or a DerError, nothing that node refuses, and nothing that node reads otherwise', () => {
  let taken = 0;
  mutants(certificateNames, Math.ceil(FUZZ * 0.6), (bytes, seed) => {
    const certificate = accepted(parseCertificate, bytes, seed);
    if (certificate === undefined) return;
    taken++;
    formatDn(certificate.subject);
    lint(certificate.tbs);
    for (const [field, [ours, theirs]] of Object.entries(compared(certificate, readByNode(bytes, seed))))
      assert.deepEqual(ours, theirs, `seed ${seed}: ${field}`);
  });
  assert.ok(taken > FUZZ / 50, 'too few mutants are taken for the comparison to say anything');
});

test('requests and keys: a value or a DerError', () => {
  mutants(requestNames, Math.ceil(FUZZ * 0.3), (bytes, seed) => {
    const csr = accepted(parseCsr, bytes, seed);
    if (csr !== undefined) weakness(csr.spki);
  });
});

test('PEM: blocks or a DerError', () => {
  const text = Buffer.from('x\r\n-----BEGIN A B-----\r\nAAEC\r\n-----END A B-----\r\n-----BEGIN C-----\nAAE=\n-----END C-----\n');
  for (let seed = 0; seed < FUZZ / 10; seed++) {
    const random = randomFrom(seed);
    accepted((bytes) => parsePem(Buffer.from(bytes).toString('latin1')), MUTATIONS[random(MUTATIONS.length)]!(text, random), seed);
  }
});
