/** What of events can be asked (heql) and sorted by. */
import type { Dictionary } from '../../kernel/search.ts';

const under = (prefix: string, ...names: readonly string[]): readonly string[] => names.map((name) => prefix + name);

/** The keys of details that a query may name (`semantics.md` 1.5). */
const detailKeys: readonly string[] = [
  ...under('certificate', 'Id', 'Dn', 'Serial', 'Profile', 'Owner', 'Team', 'Issuer', 'SubjectDn', 'NotBefore', 'NotAfter'),
  ...under('request', 'Id', 'Workflow', 'Status'),
  ...['requester', 'requesterComment', 'approver', 'approverComment'],
  ...under('actor', 'Id', 'Type'),
  'ip',
  ...under('http', 'Verb', 'Path'),
  ...under('trigger', 'Name', 'Type', 'Status'),
  ...['ca', 'pkiConnector', 'thirdPartyConnector', 'revocationReason'],
  ...under('est', 'AuthorizationMode', 'Profile'),
  ...under('scep', 'RA', 'TransactionId', 'MessageType'),
  ...under('wcce', 'Forest', 'MSTemplate', 'CA'),
  ...under('crl', 'Issuer', 'NextUpdate', 'Size'),
  'message',
  ...['profile', 'connector', 'role', 'team', 'idp', 'label', 'datasource'].map((prefix) => `${prefix}Name`),
  ...under('scheduledTask', 'Name', 'Type'),
  ...['campaign', 'hostname', 'port', 'source'],
  // Ours: of documents that the list has no word for.
  ...['name', 'identifier'],
];

export const eventDictionary: Dictionary = {
  fields: {
    id: { kind: 'id', column: 'id', sortName: '_id' },
    code: { kind: 'string', column: 'code', sortName: 'code' },
    module: { kind: 'string', column: 'module', sortName: 'module' },
    node: { kind: 'string', column: 'node', sortName: 'node' },
    status: { kind: 'string', column: 'status', sortName: 'status' },
    timestamp: { kind: 'date', column: 'at', sortName: 'timestamp' },
    'purge.date': { kind: 'date', column: 'remove_at', sortName: 'removeAt' },
  },
  families: { detail: { kind: 'string', column: 'details', keys: detailKeys } },
  sorts: { id: 'id' },
};
