/** What other modules and the parts list may use of authorities, connectors and queues. */
export { authorities, findChain } from './authorities.ts';
export { type OpenedConnector, type PkiModule, pkiModule } from './connectors.ts';
export { type DecodedCertificate, decodedCertificate, decodedCertificateSchema } from './decoded-certificate.ts';
export { type Issued, type IssueOrder, OrderRefused, type PkiConnector, type Prepared } from './pki-connector.port.ts';
export { QueueFull, queues } from './queues.ts';
