/** The request workflow over a real database, with a profile named `web` and an authority that does what a test says. */
import { generateKeyPairSync, sign } from 'node:crypto';
import type { Reply } from '../../src/kernel/action.ts';
import type { Principal } from '../../src/kernel/principal.ts';
import { findAlgorithmByName } from '../../src/lib/x509/algorithm.ts';
import { assemble, encodeTbs, newSerial } from '../../src/lib/x509/build.ts';
import { sha256Hex } from '../../src/lib/x509/certificate.ts';
import { encodeName } from '../../src/lib/x509/name.ts';
import type { IssueOrder, OpenedConnector, Prepared } from '../../src/modules/pki/index.ts';
import { type RequestModule, requestModule } from '../../src/modules/request/index.ts';
import { writeGiven } from '../conformance/collection.ts';
import { type Bench, eventsIn, openBench } from './context.ts';
import { makeCsr, openDesk } from './openssl.ts';

/** What the authority does; a test replaces its parts. */
export type Authority = { -readonly [K in 'prepare' | 'issue']: OpenedConnector[K] };

export interface RequestDesk {
  readonly bench: Bench;
  readonly module: RequestModule;
  readonly authority: Authority;
  readonly csr: string;
  /** `submit`, `approve` and so on. */
  call(end: string, body: object, principal?: Principal): Promise<Reply>;
  get(id: string, principal?: Principal): Promise<Reply>;
  /** Leaves what a submission writes before the authority is called, as a process does that dies then; answers the id. */
  die(principal: Principal): Promise<string>;
  reconcile(): Promise<void>;
  putProfile(change?: object): Promise<void>;
  /** `REQUEST-SUBMIT success` and so on, oldest first. */
  events(): Promise<readonly string[]>;
  /** Status and error of all requests, and how many intents and certificates there are. */
  left(): Promise<{
    readonly requests: readonly (readonly [string, string | null])[];
    readonly issuances: number;
    readonly certificates: number;
  }>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

const authorized = { accessLevel: 'authorized' };
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
const anyEdit = { editableByRequester: true, editableByApprover: true };
const profile = {
  module: 'webra',
  name: 'web',
  enabled: true,
  authorizationMode: 'authorized',
  pkiConnector: 'stub',
  authorizationLevels: Object.fromEntries(rights.map((right) => [right, authorized])),
  requestsPolicy: { enroll: '2 days' },
  cryptoPolicy: { decentralized: true },
  selfPermissions: {},
  certificateTemplate: {
    subject: [
      { type: 'CN', mandatory: true, ...anyEdit },
      { type: 'OU', mandatory: false, editableByApprover: true },
    ],
    sans: [{ type: 'DNSNAME', ...anyEdit }],
    ownerPolicy: { ...anyEdit, mandatory: false },
  },
};

const algorithm = findAlgorithmByName('SHA256WITHECDSA')!;
const day = 86_400_000;

/** Certificates of a key that is made here and belongs to nobody. */
function makeAuthority(bench: Bench): Authority {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    async prepare({ subject, spki }: IssueOrder): Promise<Prepared> {
      const { random, now } = await bench.as();
      const serial = newSerial(random(16));
      const issuerName = encodeName([{ type: 'cn', value: 'Stub' }]);
      const times = { notBefore: now(), notAfter: now() + 90 * day };
      const tbs = encodeTbs({ serial, algorithm, issuerName, subjectName: subject, ...times, spki, extensions: [] });
      return { serial: Buffer.from(serial).toString('hex'), authority: 'a'.repeat(64), tbs, tbsHash: sha256Hex(tbs) };
    },
    async issue(_, prepared) {
      const signature = sign('sha256', prepared!.tbs, { key: privateKey, dsaEncoding: 'der' });
      return { state: 'issued', certificate: assemble(prepared!.tbs, algorithm, signature), chain: [] };
    },
  };
}

export async function openRequestDesk(): Promise<RequestDesk> {
  const openssl = openDesk();
  const csr = makeCsr(openssl, '/CN=www.example', { san: 'DNS:www.example' });
  openssl.close();
  const bench = await openBench();
  const usual = makeAuthority(bench);
  const authority = { ...usual };
  const connector: OpenedConnector = {
    name: 'stub',
    type: 'stub',
    probe: async () => {},
    prepare: (order) => authority.prepare(order),
    issue: (order, prepared) => authority.issue(order, prepared),
  };
  const module = requestModule({ openConnector: async () => connector });
  const operationOf = (end: string) => module.operations.find(({ id }) => id === `request.${end}`)!;
  const rows = async <R>(text: string) => (await bench.database.writers.query(text)).rows as R[];
  const count = async (table: string) => Number((await rows<{ n: string }>(`select count(*) as n from ${table}`))[0]!.n);
  return {
    bench,
    module,
    authority,
    csr,
    call: (end, body, principal) => bench.perform(operationOf(end), { body }, principal),
    get: (id, principal) => bench.perform(operationOf('get'), { params: { id } }, principal),
    async die(principal) {
      const body = { profile: 'web', template: { csr }, dryRun: false };
      const { changes } = await operationOf('submit').run({ params: {}, query: {}, body: body as never }, await bench.as(principal));
      await bench.commit(changes!);
      return (await rows<{ id: string }>('select id from request order by id desc limit 1'))[0]!.id;
    },
    reconcile: async () => module.jobs[0]!.run(await bench.as(), bench.performer),
    async putProfile(change = {}) {
      const body = JSON.stringify({ ...profile, ...change });
      const text = "update document set body = $1, revision = revision + 1 where collection = 'certificate.profile' and key = 'web'";
      await bench.database.writers.query(text, [body]);
    },
    events: async () => (await eventsIn(bench.database)).map(({ code, status }) => `${code} ${status}`),
    left: async () => ({
      requests: (await rows<{ status: string; error: string | null }>('select status, error from request order by id')).map(
        ({ status, error }) => [status, error] as const,
      ),
      issuances: await count('issuance'),
      certificates: await count('certificate'),
    }),
    async clear() {
      Object.assign(authority, usual);
      await bench.clear();
      await bench.database.writers.query('delete from request; delete from issuance; delete from certificate');
      await writeGiven(bench, [['certificate.profile', 'web', profile]]);
    },
    close: () => bench.close(),
  };
}
