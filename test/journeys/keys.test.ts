/** Keys of every kind that is taken, of authorities and of leaves, made and checked by openssl; and those that are refused. */
import assert from 'node:assert/strict';
import { createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { bitString, sequence } from '../../src/lib/der/write.ts';
import { at, type Client } from '../support/client.ts';
import { createDatabase } from '../support/database.ts';
import { keyArguments, makeCsr, openDesk } from '../support/openssl.ts';
import { administratorSecret, type RunningService, startService } from '../support/service.ts';
import { is, profileNamed, refused } from '../support/story.ts';

type KeyType = keyof typeof keyArguments;
const keyTypes = Object.keys(keyArguments) as KeyType[];

/** How each authority's key is handed over. `-traditional` writes SEC1 for curves, PKCS#1 for RSA. */
const forms: Readonly<Record<KeyType, 'PRIVATE KEY' | 'EC PRIVATE KEY' | 'RSA PRIVATE KEY'>> = {
  'ec-secp256r1': 'EC PRIVATE KEY',
  'ec-secp384r1': 'PRIVATE KEY',
  'ec-secp521r1': 'EC PRIVATE KEY',
  'rsa-2048': 'RSA PRIVATE KEY',
  'rsa-3072': 'PRIVATE KEY',
  'rsa-4096': 'RSA PRIVATE KEY',
};

const desk = openDesk();
let service: RunningService;
let admin: Client;

before(async () => {
  service = await startService({ databaseUrl: (await createDatabase()).url });
  admin = service.client('administrator', administratorSecret);
  for (const type of keyTypes) {
    const { key, certificate } = makeAuthority(type);
    is(
      201,
      await admin.call('POST', '/api/v1/pki/connectors', {
        name: type,
        type: 'integrated',
        cryptoType: 'legacy',
        caKey: { value: key },
        caCert: certificate,
      }),
    );
    is(201, await admin.call('POST', '/api/v1/certificate/profiles', profileNamed(type, type)));
  }
});
after(async () => {
  await service?.stop();
  desk.close();
});

function makeAuthority(type: KeyType): { readonly key: string; readonly certificate: string } {
  const usage = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  const words = ['-x509', '-nodes', ...keyArguments[type], '-keyout', `${type}.key`, '-out', `${type}.pem`, '-subj', `/CN=${type} CA`];
  desk.run('req', ...words, '-days', '3650', ...usage);
  const key = desk.run('pkey', '-in', `${type}.key`, ...(forms[type] === 'PRIVATE KEY' ? [] : ['-traditional']));
  assert.ok(key.startsWith(`-----BEGIN ${forms[type]}-----`));
  return { key, certificate: desk.run('x509', '-in', `${type}.pem`) };
}

const submit = (csr: string, profile: string = 'ec-secp256r1') =>
  admin.call('POST', '/api/v1/requests/submit', { profile, template: { csr } });
const certificateOf = (body: unknown) => String(at(body, 'certificate.certificate'));

describe('taken', () => {
  for (const leaf of keyTypes)
    it(`a leaf with ${leaf}, from each authority`, async () => {
      const csr = makeCsr(desk, `/CN=${leaf}.example.test`, { keyType: leaf, san: `DNS:${leaf}.example.test` });
      const publicKey = desk.run('pkey', '-in', 'leaf.key', '-pubout');
      for (const authority of keyTypes) {
        const pem = certificateOf(is(201, await submit(csr, authority)));
        const file = desk.file('leaf.pem', pem);
        const chain = ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', `${leaf}.example.test`];
        assert.match(desk.run(...chain, '-CAfile', `${authority}.pem`, file), /leaf\.pem: OK/, `${leaf} from ${authority}`);
        assert.equal(desk.run('x509', '-in', file, '-noout', '-pubkey'), publicKey);
        const [read, issuer] = [new X509Certificate(pem), new X509Certificate(desk.run('x509', '-in', `${authority}.pem`))];
        assert.ok(read.checkIssued(issuer) && read.verify(issuer.publicKey) && read.checkHost(`${leaf}.example.test`));
      }
    });

  it('five hundred, each with a serial number of its own', async () => {
    const csr = makeCsr(desk, '/CN=many.example.test');
    const serials: string[] = [];
    const some = Array.from({ length: 20 }, async () => {
      for (let i = 0; i < 25; i++) serials.push(new X509Certificate(certificateOf(is(201, await submit(csr)))).serialNumber);
    });
    await Promise.all(some);
    assert.equal(new Set(serials).size, 500);
    // Positive, at most 20 octets (RFC 5280 §4.1.2.2), and of 127 random bits few begin with 24 that are zero.
    for (const serial of serials) assert.ok(serial.length >= 26 && serial.length <= 40 && /[1-9A-F]/.test(serial), serial);
  });
});

describe('refused', () => {
  const csrBy = (...words: readonly string[]) =>
    desk.run('req', '-new', '-nodes', ...words, '-keyout', 'odd.key', '-subj', '/CN=odd.example.test');
  const curve = (name: string) => csrBy('-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${name}`);

  it('keys that are weak or of no known kind', async () => {
    for (const csr of [
      csrBy('-newkey', 'rsa:1024'),
      csrBy('-newkey', 'rsa:2560'),
      csrBy('-newkey', 'rsa:2048', '-pkeyopt', 'rsa_keygen_pubexp:3'),
      curve('secp256k1'),
      curve('P-224'),
      csrBy('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-pkeyopt', 'ec_param_enc:explicit'),
    ])
      refused(400, 'WEBRA-ENROLL-002', await submit(csr));
  });

  it('requests that somebody changed after they were signed', async () => {
    const der = derOf(makeCsr(desk, '/CN=genuine.example.test'));
    for (const position of [der.indexOf('genuine'), der.length - 1]) {
      const changed = Buffer.from(der);
      changed[position]! ^= 1;
      refused(400, 'WEBRA-ENROLL-003', await submit(pemOf(changed)));
    }
  });

  it('what is no request at all', async () => {
    const good = makeCsr(desk, '/CN=good.example.test');
    const der = derOf(good);
    const certificate = desk.run('x509', '-in', 'ec-secp256r1.pem');
    for (const text of [
      'garbage',
      '-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----',
      good.slice(0, 200),
      certificate,
      pemOf(der.subarray(0, -1)),
      pemOf(Buffer.concat([der, Buffer.from([0])])),
      pemOf(Buffer.alloc(1_000, 0x30)),
      pemOf(Buffer.from('30847fffffff', 'hex')),
    ])
      refused(400, 'WEBRA-ENROLL-003', await submit(text));
    is(201, await submit(good));
  });

  it('a name with a NUL in it, though its own key signed it', async () => {
    const der = derOf(makeCsr(desk, '/CN=good.test@evil.test'));
    const [header, length] = [4, der.readUInt16BE(2)];
    const isShort = der[1] === 0x81;
    const content = isShort ? der.subarray(3) : der.subarray(header, header + length);
    const info = Buffer.from(content.subarray(0, 2 + (content[1]! < 0x80 ? content[1]! : 1 + content[2]!)));
    const algorithm = content.subarray(info.length, info.length + 2 + content[info.length + 1]!);
    info[info.indexOf('@')] = 0;
    const signature = sign('sha256', info, createPrivateKey(desk.run('pkey', '-in', 'leaf.key')));
    const answer = await submit(pemOf(Buffer.from(sequence(info, algorithm, bitString(signature)))));
    assert.equal(answer.status, 400);
    assert.match(String(at(answer.body, 'error')), /^WEBRA-ENROLL-00[34]$/, JSON.stringify(answer.body));
  });

  it('more names than the profile takes', async () => {
    const few = {
      subject: [{ type: 'CN', mandatory: true, editableByRequester: true, editableByApprover: true }],
      sans: [{ type: 'DNSNAME', max: 199, editableByRequester: true, editableByApprover: true }],
    };
    is(201, await admin.call('POST', '/api/v1/certificate/profiles', profileNamed('few', 'ec-secp256r1', { certificateTemplate: few })));
    const names = (count: number) => Array.from({ length: count }, (_, i) => `DNS:n${i}.example.test`).join();
    const answer = is(201, await submit(makeCsr(desk, '/CN=many.example.test', { san: names(199) }), 'few'));
    assert.equal(new X509Certificate(certificateOf(answer)).subjectAltName?.split(', ').length, 199);
    refused(400, 'WEBRA-ENROLL-005', await submit(makeCsr(desk, '/CN=many.example.test', { san: names(200) }), 'few'));
  });
});

const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]*-----|\s/g, ''), 'base64');
const pemOf = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
