/** What the service asks of an authority's product, its own integrated one among them. Connectors implement it, `modules/request` calls it. */
import { type ConnectorType, connectorFor } from '../../kernel/connector.ts';
import type { ExtensionValues } from '../../lib/x509/extensions.ts';
import type { GeneralName } from '../../lib/x509/general-names.ts';
import type { KeyType } from '../../lib/x509/key-type.ts';

/** What is to be certified; names, key and extensions were decided before. Octets are DER. */
export interface IssueOrder {
  /** Of the request. An order that comes again has the same. */
  readonly id: string;
  /** Name; an empty one is allowed where there are `sans`. */
  readonly subject: Uint8Array;
  readonly sans: readonly GeneralName[];
  readonly extensions: Partial<Pick<ExtensionValues, 'ms_sid' | 'ms_template' | 'ms_template_v2'>>;
  /** SubjectPublicKeyInfo. Whoever orders has seen that its owner has the private key. */
  readonly spki: Uint8Array;
  readonly keyType: KeyType;
}

/** The intent to issue, to be stored before anything is signed. */
export interface Prepared {
  /** Lower-case hexadecimal. */
  readonly serial: string;
  /** Which key is going to sign: SHA-256 over its SubjectPublicKeyInfo, lower-case hexadecimal. */
  readonly authority: string;
  /** TBSCertificate, DER: every octet that the signature covers. */
  readonly tbs: Uint8Array;
  /** SHA-256 over `tbs`, lower-case hexadecimal. */
  readonly tbsHash: string;
}

/** `chain`: what is above the certificate as far as the authority says, its issuer first. */
export type Issued =
  | { readonly state: 'issued'; readonly certificate: Uint8Array; readonly chain: readonly Uint8Array[] }
  | { readonly state: 'pending'; readonly ticket: string };

export interface PkiConnector {
  /** Whether it could issue now. Changes nothing. Throws what hinders it. */
  probe(): Promise<void>;
  /** Owed by who makes the certificate itself. Signs nothing, keeps nothing; calling it again prepares another certificate with another serial
   *  number, and what was prepared and never issued leaves no trace. Throws `OrderRefused`. */
  prepare?(order: IssueOrder): Promise<Prepared>;
  /** With `prepare` in the port, `prepared` must be what it answered for this order; issuing is then idempotent but for the octets of the signature:
   *  it signs those bytes again and nothing else, so whoever does not know whether it happened calls it again.
   *  Without, it may happen twice for one order when it is repeated. Never half: it answers a certificate or throws.
   *  `OrderRefused` is final; after anything else the same call may be repeated later. */
  issue(order: IssueOrder, prepared?: Prepared): Promise<Issued>;
}

/** This authority does not issue that, however often it is asked. Its words are shown to whoever asked. */
export class OrderRefused extends Error {
  /** One for each thing that is wrong. */
  readonly findings: readonly string[];
  constructor(findings: readonly string[], options?: ErrorOptions) {
    super(findings.join('; '), options);
    this.name = 'OrderRefused';
    this.findings = findings;
  }
}

export type PkiConnectorType = ConnectorType<PkiConnector>;
export const pkiConnector = connectorFor<PkiConnector>();
