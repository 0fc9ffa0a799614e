/** Certificates under an authority whose key is at hand: prepared, looked over, signed. */
import type { Signer, Sources } from '../../kernel/context.ts';
import { fromHex, sameOctets, toHex } from '../../lib/der/octets.ts';
import { DerError } from '../../lib/der/read.ts';
import type { SignatureAlgorithm } from '../../lib/x509/algorithm.ts';
import { encodeTbs, newSerial, subjectKeyIdentifier, type TbsInput } from '../../lib/x509/build.ts';
import { parseTbs, sha256Hex } from '../../lib/x509/certificate.ts';
import { type Extension, encodeExtension, type KeyUsage } from '../../lib/x509/extensions.ts';
import { InvalidValue } from '../../lib/x509/invalid-value.ts';
import { lint } from '../../lib/x509/lint.ts';
import { type IssueOrder, OrderRefused, type PkiConnector, type Prepared } from '../../modules/pki/pki-connector.port.ts';
import { type Authority, requireCurrent, sign } from './authority.ts';

export interface Validity {
  readonly lifetimeMs: number;
  /** How long before now a certificate begins, for clocks that are behind. */
  readonly backDateMs: number;
}

export function issuance(
  authority: Authority,
  signer: Signer,
  { lifetimeMs, backDateMs }: Validity,
  { now, random }: Sources,
): Required<Pick<PkiConnector, 'prepare' | 'issue' | 'probe'>> {
  const { certificate: ca, algorithm, keyHash, keyIdentifier, publicKey } = authority;
  const issuer = {
    name: ca.subject.der,
    subjectKeyIdentifier: keyIdentifier,
    notBefore: ca.notBefore,
    notAfter: ca.notAfter,
    family: algorithm.family,
  };
  const extensionsOf = extensionsUnder(keyIdentifier);

  /** What was prepared here for this very order and kept in memory needs no second look. */
  const made = new WeakMap<Prepared, IssueOrder>();

  const currently = (): number => {
    const at = now();
    requireCurrent(authority, at, (reason) => new OrderRefused([reason]));
    return at;
  };

  /** The one certificate for an order, but for number and times. */
  const tbsOf = (order: IssueOrder, rest: Pick<TbsInput, 'serial' | 'algorithm' | 'notBefore' | 'notAfter'>): Uint8Array =>
    encodeTbs({ ...rest, issuerName: ca.subject.der, subjectName: order.subject, spki: order.spki, extensions: extensionsOf(order) });

  /** The hash says that these bytes were prepared; making them again, that it was here and for this order. Returns what signs them. */
  const requireOwn = (order: IssueOrder, prepared: Prepared): SignatureAlgorithm => {
    if (sha256Hex(prepared.tbs) !== prepared.tbsHash) throw new OrderRefused(['what was prepared has been altered']);
    if (prepared.authority !== keyHash) throw new OrderRefused(['the authority has another key than when this was prepared']);
    const { serial, algorithm: chosen, notBefore, notAfter } = parseTbs(prepared.tbs);
    const again = chosen?.family === algorithm.family && tbsOf(order, { serial: fromHex(serial)!, algorithm: chosen, notBefore, notAfter });
    if (!again || !sameOctets(again, prepared.tbs) || serial !== prepared.serial || lint(again, issuer).length > 0)
      throw new OrderRefused(['what was prepared is not what this authority makes of the order']);
    return chosen;
  };

  return {
    async probe() {
      currently();
    },
    async prepare(order) {
      const at = currently();
      const serial = newSerial(random(16));
      const tbs = inWords(() =>
        tbsOf(order, {
          serial,
          algorithm,
          notBefore: Math.max(at - backDateMs, ca.notBefore),
          notAfter: Math.min(at + lifetimeMs, ca.notAfter),
        }),
      );
      const findings = lint(tbs, issuer);
      if (findings.length > 0) throw new OrderRefused(findings);
      const prepared: Prepared = Object.freeze({ serial: toHex(serial), authority: keyHash, tbs, tbsHash: sha256Hex(tbs) });
      made.set(prepared, order);
      return prepared;
    },
    async issue(order, prepared) {
      if (!prepared) throw new Error('this authority issues only what was prepared');
      currently();
      const chosen = made.get(prepared) === order ? algorithm : inWords(() => requireOwn(order, prepared));
      const certificate = await sign(prepared.tbs, chosen, signer, publicKey);
      return { state: 'issued', certificate, chain: [ca.der] };
    },
  };
}

/** What cannot be encoded or read is refused, not a bug. */
function inWords<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof InvalidValue || error instanceof DerError ? new OrderRefused([error.message], { cause: error }) : error;
  }
}

const keyUsage = (...usages: readonly KeyUsage[]): Extension => encodeExtension('keyUsage', usages, true);
const usageOfRsa = keyUsage('digitalSignature', 'keyEncipherment');
const usageOfOthers = keyUsage('digitalSignature');
const noAuthority = encodeExtension('basicConstraints', { isCa: false }, true);
const serverAndClient = encodeExtension('extendedKeyUsage', ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'], false);

/** The DER of an empty Name. */
const noName = Uint8Array.of(0x30, 0x00);
const microsoftKinds = ['ms_sid', 'ms_template', 'ms_template_v2'] as const;

const extensionsUnder = (keyIdentifier: string): ((order: IssueOrder) => readonly Extension[]) => {
  const authorityKey = encodeExtension('authorityKeyIdentifier', keyIdentifier, false);
  return ({ spki, keyType, subject, sans, extensions }) => [
    authorityKey,
    encodeExtension('subjectKeyIdentifier', subjectKeyIdentifier(spki), false),
    noAuthority,
    keyType.startsWith('rsa-') ? usageOfRsa : usageOfOthers,
    serverAndClient,
    // RFC 5280 §4.2.1.6: critical where it is all that names the subject.
    ...(sans.length === 0 ? [] : [encodeExtension('subjectAltName', { names: sans, unsupported: [] }, sameOctets(subject, noName))]),
    ...microsoftKinds.flatMap((kind) => (extensions[kind] === undefined ? [] : [encodeExtension(kind, extensions[kind], false)])),
  ];
};
