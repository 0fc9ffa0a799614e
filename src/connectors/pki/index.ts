/** The authorities that certificates can be had from. */
import type { PkiConnectorType } from '../../modules/pki/pki-connector.port.ts';
import { integrated } from './integrated.ts';

export const pkiConnectorTypes: readonly PkiConnectorType[] = [integrated];
