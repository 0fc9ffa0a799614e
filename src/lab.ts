/** The lab: an authority, its connector, a CA and a profile, all named `lab`, made at the first start so that a certificate can be had at once.
 *  Made by the operations that anybody else would use. */
import type { Operation } from './kernel/action.ts';
import type { Context } from './kernel/context.ts';
import type { Performer } from './kernel/perform.ts';
import { compilePermissions } from './kernel/permission.ts';
import type { Principal } from './kernel/principal.ts';

const name = 'lab';
const permissions = [{ value: 'configuration:*' }];
const maker: Principal = { identifier: 'administrator', roles: [], teams: [], permissions, grant: compilePermissions(permissions) };

const authorized = { accessLevel: 'authorized' };
const editable = { editableByRequester: true, editableByApprover: true };
const rights = [
  'enroll',
  'enrollApi',
  'requestEnroll',
  'approveEnroll',
  'auditRequest',
  'search',
  'update',
  'requestUpdate',
  'approveUpdate',
];

const profile = {
  module: 'webra',
  name,
  description: [{ lang: 'en', value: 'Certificates for trying things out' }],
  enabled: true,
  authorizationMode: 'authorized',
  pkiConnector: name,
  authorizationLevels: Object.fromEntries(rights.map((right) => [right, authorized])),
  requestsPolicy: { enroll: '7 days' },
  cryptoPolicy: { decentralized: true },
  selfPermissions: {},
  certificateTemplate: {
    subject: [{ type: 'CN', mandatory: true, ...editable }],
    sans: [
      { type: 'DNSNAME', ...editable },
      { type: 'IPADDRESS', ...editable },
    ],
  },
};

export interface LabTools {
  readonly operations: readonly Operation[];
  readonly performer: Performer;
  context(principal: Principal): Promise<Context>;
}

export async function makeLab({ operations, performer, context }: LabTools): Promise<void> {
  const create = async (id: string, body: unknown): Promise<unknown> => {
    const operation = operations.find((candidate) => candidate.id === id);
    if (!operation) throw new Error(`there is no operation ${id}`);
    const reply = await performer.perform(operation, { params: {}, query: {}, body }, await context(maker));
    if (reply.status >= 300) throw new Error(`the lab could not be made: ${id} answered ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const { caCert } = (await create('pki.connector.add', { name, type: 'integrated', cryptoType: 'legacy' })) as { caCert: string };
  await create('ca.add', { name, certificate: caCert });
  await create('certificate.profile.add', profile);
}
