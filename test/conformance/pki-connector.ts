/** What every PKI connector keeps, whatever product is behind it. Each connector's test calls it. */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { parseCertificate, sha256Hex } from '../../src/lib/x509/certificate.ts';
import { encodeName } from '../../src/lib/x509/name.ts';
import { type IssueOrder, OrderRefused, type PkiConnector } from '../../src/modules/pki/pki-connector.port.ts';

let orders = 0;

/** An order for a new P-256 key, `CN=host.example`. */
export function sampleOrder(differing: Partial<IssueOrder> = {}): IssueOrder {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  orders += 1;
  return {
    id: orders.toString(16).padStart(24, '0'),
    subject: encodeName([{ type: 'cn', value: 'host.example' }]),
    sans: [{ type: 'DNSNAME', value: 'host.example' }],
    extensions: {},
    spki: new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })),
    keyType: 'ec-secp256r1',
    ...differing,
  };
}

/** As the service calls it: prepare where there is something to prepare, then issue. */
export async function issueThrough(
  port: PkiConnector,
  order: IssueOrder,
): Promise<{ certificate: Uint8Array; chain: readonly Uint8Array[] }> {
  const issued = await port.issue(order, await port.prepare?.(order));
  assert.equal(issued.state, 'issued');
  return issued as Extract<typeof issued, { state: 'issued' }>;
}

/** `open` gives the connector under test with an authority that is valid now. */
/** `prepares`: it makes the certificate itself, in the port's two steps. */
export function pkiConnectorContract(title: string, open: () => Promise<PkiConnector>, { prepares }: { readonly prepares: boolean }): void {
  describe(`PKI connector: ${title}`, () => {
    let port: PkiConnector;
    before(async () => {
      port = await open();
    });

    it('can be asked whether it would issue', () => port.probe());

    it('issues what was ordered, under a chain that verifies', async () => {
      const order = sampleOrder();
      const { certificate, chain } = await issueThrough(port, order);
      const parsed = parseCertificate(certificate);
      assert.deepEqual([parsed.subject.der, parsed.spki, parsed.sans], [order.subject, order.spki, order.sans]);
      assert.ok(chain.length > 0);
      const [leaf, ...above] = [certificate, ...chain].map((der) => new X509Certificate(der));
      above.reduce((below, issuer) => {
        assert.ok(below.checkIssued(issuer) && below.verify(issuer.publicKey), `${below.subject} is not issued by ${issuer.subject}`);
        return issuer;
      }, leaf!);
    });

    it('gives each certificate a serial number of its own, positive and at most 20 octets long', async () => {
      const order = sampleOrder();
      const issued = await Promise.all(Array.from({ length: 20 }, () => issueThrough(port, order)));
      const serials = issued.map(({ certificate }) => parseCertificate(certificate).serial);
      assert.equal(new Set(serials).size, serials.length);
      for (const serial of serials) assert.ok(BigInt(`0x${serial}`) > 1n << 64n && BigInt(`0x${serial}`) < 1n << 159n, serial);
    });

    it('refuses for good what cannot be certified', async () => {
      const nameless = sampleOrder({ subject: encodeName([]), sans: [] });
      const misnamed = sampleOrder({ sans: [{ type: 'DNSNAME', value: 'not a host' }] });
      const keyless = sampleOrder({ spki: Uint8Array.of(0x30, 0x00) });
      for (const order of [nameless, misnamed, keyless]) await assert.rejects(issueThrough(port, order), hasFindings);
    });

    if (!prepares) return;
    describe('what is prepared', () => {
      it('is issued again octet for octet, and nothing else', async () => {
        const order = sampleOrder();
        const prepared = await port.prepare!(order);
        assert.equal(createHash('sha256').update(prepared.tbs).digest('hex'), prepared.tbsHash);
        for (let time = 0; time < 2; time++) {
          const issued = await port.issue(order, prepared);
          assert.ok(issued.state === 'issued');
          const { tbs, serial } = parseCertificate(issued.certificate);
          assert.deepEqual([Buffer.from(tbs), serial], [Buffer.from(prepared.tbs), prepared.serial]);
        }
      });

      it('is refused when it was altered, belongs to another order or to another key', async () => {
        const [order, other] = [sampleOrder(), sampleOrder()];
        const prepared = await port.prepare!(order);
        const altered = Uint8Array.from(prepared.tbs);
        altered[altered.length - 1]! ^= 1;
        const attempts = [
          { ...prepared, tbs: altered },
          { ...prepared, tbs: altered.subarray(0, -1), tbsHash: sha256Hex(altered.subarray(0, -1)) },
          { ...prepared, authority: '00'.repeat(32) },
          { ...prepared, serial: 'ff' },
          await port.prepare!(other),
        ];
        for (const attempt of attempts) await assert.rejects(port.issue(order, attempt), hasFindings);
      });

      it('is prepared anew, with another serial number, each time', async () => {
        const order = sampleOrder();
        const [one, other] = [await port.prepare!(order), await port.prepare!(order)];
        assert.notEqual(one.serial, other.serial);
        assert.equal(one.authority, other.authority);
      });
    });
  });
}

const hasFindings = (error: unknown): boolean => error instanceof OrderRefused && error.findings.length > 0 && error.message !== '';
