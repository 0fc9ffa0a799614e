/** One certificate, from nothing: somebody configures, somebody asks, somebody else approves, the authority signs, everybody can check. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import pg from 'pg';
import { type Answer, at, type Client } from '../support/client.ts';
import { createDatabase } from '../support/database.ts';
import { makeCsr, openDesk } from '../support/openssl.ts';
import { administratorSecret, type RunningService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const authorized = { accessLevel: 'authorized' };
const editable = { editableByRequester: true, editableByApprover: true };
const profile = {
  module: 'webra',
  name: 'web',
  displayName: [{ lang: 'en', value: 'Web servers' }],
  enabled: true,
  authorizationMode: 'authorized',
  pkiConnector: 'corporate',
  authorizationLevels: Object.fromEntries(
    ['enroll', 'enrollApi', 'requestEnroll', 'approveEnroll', 'search', 'update', 'requestUpdate', 'approveUpdate'].map((right) => [
      right,
      authorized,
    ]),
  ),
  requestsPolicy: { enroll: '3 days' },
  cryptoPolicy: { decentralized: true, authorizedKeyTypes: ['ec-secp256r1', 'rsa-2048'] },
  selfPermissions: {},
  certificateTemplate: {
    subject: [
      { type: 'CN', mandatory: true, ...editable, regex: '^[a-z.]+$' },
      { type: 'O', value: 'Perennial', mandatory: true },
    ],
    sans: [{ type: 'DNSNAME', min: 1, max: 3, ...editable }],
    labels: [{ label: 'environment', mandatory: true, ...editable, enum: ['production', 'test'] }],
  },
};

/** `clients` makes the clients of one person, one for each process: calls go to them in turn. */
async function story(services: readonly RunningService[]): Promise<void> {
  const desk = openDesk();
  let turn = 0;
  const person = (apiId?: string, apiKey?: string): Client => {
    const clients = services.map((service) => service.client(apiId, apiKey));
    return { call: (...call) => clients[turn++ % clients.length]!.call(...call) };
  };
  const is = (status: number, { status: got, body }: Answer): unknown => {
    assert.equal(got, status, JSON.stringify(body));
    return body;
  };

  try {
    const admin = person('administrator', administratorSecret);
    // Somebody makes a CA with openssl, and gives its key to a connector.
    desk.run(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-384',
      '-nodes',
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-subj',
      '/O=Perennial/CN=Corporate CA',
      '-days',
      '3650',
      '-addext',
      'keyUsage=critical,keyCertSign,cRLSign',
    );
    const [caKey, caCert] = ['ca.key', 'ca.pem'].map((file) => desk.run(file.endsWith('key') ? 'pkey' : 'x509', '-in', file)) as [
      string,
      string,
    ];

    is(
      201,
      await admin.call('POST', '/api/v1/certificate/labels', {
        name: 'environment',
        displayName: [{ lang: 'en', value: 'Environment' }],
        description: null,
      }),
    );
    is(201, await admin.call('POST', '/api/v1/pki/queues/', { name: 'signing', size: 100, clusterWide: false }));
    is(
      400,
      await admin.call('POST', '/api/v1/pki/connectors', {
        name: 'corporate',
        type: 'integrated',
        cryptoType: 'legacy',
        queue: 'missing',
        caKey: { value: caKey },
        caCert,
      }),
    );
    const connector = is(
      201,
      await admin.call('POST', '/api/v1/pki/connectors', {
        name: 'corporate',
        type: 'integrated',
        cryptoType: 'legacy',
        queue: 'signing',
        caKey: { value: caKey },
        caCert,
        crtLifetime: '30 days',
      }),
    );
    assert.deepEqual(at(connector, 'caKey'), { value: null }, 'the key does not come out again');
    is(201, await admin.call('POST', '/api/v1/cas', { name: 'Corporate CA', certificate: caCert }));
    is(201, await admin.call('POST', '/api/v1/certificate/profiles', profile));
    is(403, await admin.call('DELETE', '/api/v1/certificate/labels/environment'));

    is(
      201,
      await admin.call('POST', '/api/v1/security/roles', {
        name: 'requesters',
        permissions: [{ value: 'lifecycle:webra:web:request_enroll' }, { value: 'lifecycle:webra:web:search' }],
      }),
    );
    is(
      201,
      await admin.call('POST', '/api/v1/security/roles', {
        name: 'approvers',
        permissions: [{ value: 'lifecycle:webra:web:approve_enroll' }, { value: 'lifecycle:webra:web:request_enroll' }],
      }),
    );
    for (const [identifier, role] of [
      ['ada', 'requesters'],
      ['bob', 'approvers'],
      ['eve', 'approvers'],
    ] as const) {
      is(
        201,
        await admin.call('POST', '/api/v1/security/identity/locals', { identifier, email: `${identifier}@corp.test`, name: identifier }),
      );
      is(204, await admin.call('PATCH', '/api/v1/security/identity/locals', { identifier, password: `secret of ${identifier}` }));
      is(
        201,
        await admin.call('POST', '/api/v1/security/principalinfos', {
          identifier,
          contact: `${identifier}@corp.test`,
          roles: [role],
          enabled: true,
        }),
      );
    }
    const [ada, bob, eve] = ['ada', 'bob', 'eve'].map((name) => person(name, `secret of ${name}`)) as [Client, Client, Client];
    assert.equal(at(is(200, await ada.call('GET', '/api/v1/security/principals/self')), 'roles.0'), 'requesters');

    // Ada asks.
    const csr = makeCsr(desk, '/CN=www.corp.test', { san: 'DNS:www.corp.test,DNS:corp.test' });
    const template = is(
      200,
      await ada.call('POST', '/api/v1/requests/template', { module: 'webra', workflow: 'enroll', profile: 'web', template: { csr } }),
    );
    assert.deepEqual(at(template, 'template.sans'), [
      { type: 'DNSNAME', value: ['www.corp.test', 'corp.test'], editable: true, min: 1, max: 3 },
    ]);
    const body = {
      module: 'webra',
      workflow: 'enroll',
      profile: 'web',
      template: { csr, labels: [{ label: 'environment', value: 'production' }] },
      requesterComment: 'for the new site',
    };
    is(400, await ada.call('POST', '/api/v1/requests/submit', { ...body, template: { csr } }));
    assert.equal(at(is(201, await ada.call('POST', '/api/v1/requests/submit', { ...body, dryRun: true })), 'status'), 'pending');
    const asked = is(201, await ada.call('POST', '/api/v1/requests/submit', body));
    assert.equal(at(asked, 'status'), 'pending');
    const requestId = String(at(asked, '_id'));
    assert.equal(at(asked, 'dn'), 'CN=www.corp.test,O=Perennial');

    // Nobody approves their own request, and of two approvers at once exactly one wins.
    assert.equal(
      at(is(403, await ada.call('POST', '/api/v1/requests/approve', { _id: requestId, module: 'webra', workflow: 'enroll' })), 'error'),
      'SEC-PERM-001',
    );
    const approval = { _id: requestId, module: 'webra', workflow: 'enroll', approverComment: 'fine' };
    const approvals = await Promise.all([bob, eve].map((approver) => approver.call('POST', '/api/v1/requests/approve', approval)));
    assert.deepEqual(approvals.map(({ status }) => status).sort(), [200, 400]);
    assert.equal(at(is(400, approvals.find(({ status }) => status === 400)!), 'error'), 'REQ-004');
    const approved = is(200, approvals.find(({ status }) => status === 200)!);
    assert.equal(at(approved, 'status'), 'completed');

    // Others check what was signed.
    const pem = String(at(is(200, await ada.call('GET', `/api/v1/requests/${requestId}`)), 'certificate.certificate'));
    desk.file('leaf.pem', pem);
    assert.match(
      desk.run('verify', '-CAfile', 'ca.pem', '-purpose', 'sslserver', '-verify_hostname', 'corp.test', 'leaf.pem'),
      /leaf.pem: OK/,
    );
    assert.match(desk.run('x509', '-in', 'leaf.pem', '-noout', '-subject', '-nameopt', 'RFC2253'), /CN=www\.corp\.test,O=Perennial/);

    // It is in the inventory, for those who may see it.
    const search = {
      query: 'dn contains "WWW.corp" and label.environment equals "production" and status is valid and valid.until before 31d',
      withCount: true,
    };
    const found = is(200, await ada.call('POST', '/api/v1/certificates/search', search));
    assert.deepEqual(
      ['count', 'hasMore', 'results.0.dn'].map((path) => at(found, path)),
      [1, false, 'CN=www.corp.test,O=Perennial'],
    );
    assert.deepEqual(at(is(200, await bob.call('POST', '/api/v1/certificates/search', search)), 'results'), []);
    const one = is(200, await ada.call('GET', `/api/v1/certificates/${at(found, 'results.0._id')}`));
    assert.equal(at(one, 'certificate.certificate'), pem);
    is(400, await ada.call('POST', '/api/v1/certificates/search', { query: 'dn lower than "x"' }));

    // Every step stands in the trail.
    const trail = async (code: string) => {
      const query = `code equals "${code}" and status equals "success" and detail.requestId equals "${requestId}"`;
      return at(is(200, await admin.call('POST', '/api/v1/events/search', { query })), 'results') as {
        readonly _id: string;
        readonly seal?: string;
      }[];
    };
    for (const code of ['REQUEST-SUBMIT', 'REQUEST-APPROVE', 'LIFECYCLE-ENROLL']) {
      await until(async () => (await trail(code))[0]?.seal !== undefined);
      assert.equal((await trail(code)).length, 1, code);
    }
    const made = { query: 'code equals "CONF-ADD" and detail.labelName equals "environment"' };
    assert.equal(at(is(200, await admin.call('POST', '/api/v1/events/search', made)), 'results.length'), 1);
    assert.equal(at(is(403, await ada.call('POST', '/api/v1/events/search', {})), 'error'), 'SEC-PERM-001');
    assert.equal((await integrity(admin))['status'], 'verified');

    // Somebody with the database's password rewrites history.
    const [submitted] = await trail('REQUEST-SUBMIT');
    const database = new pg.Client(services[0]!.databaseUrl);
    await database.connect();
    const { rowCount } = await database.query(`update event set details = jsonb_set(details, '{requester}', '"bob"') where id = $1`, [
      submitted!._id,
    ]);
    await database.end();
    assert.equal(rowCount, 1);
    const report = await integrity(admin);
    assert.equal(report['status'], 'eventIntegrityFailure');
    assert.equal(report['eventId'], submitted!._id);
  } finally {
    desk.close();
  }
}

/** Runs the integrity check and waits for its newest report. */
async function integrity(admin: Client): Promise<Record<string, unknown>> {
  const reports = async () => ((await admin.call('GET', '/api/v1/events/integrity')).body ?? []) as Record<string, unknown>[];
  const before = (await reports()).length;
  assert.equal((await admin.call('GET', '/api/v1/events/integrity/run')).status, 204);
  await until(async () => {
    const now = await reports();
    return now.length > before && now[0]!['status'] !== 'running';
  });
  return (await reports())[0]!;
}

describe('one certificate', () => {
  const started: RunningService[] = [];
  const begin = async (...options: Parameters<typeof startService>) => {
    const service = await startService(...options);
    started.push(service);
    return service;
  };
  after(() => Promise.all(started.map((service) => service.stop())));

  it('with the embedded database', async () => story([await begin()]));

  it('with a PostgreSQL of one’s own', async () => {
    const { url } = await createDatabase();
    await story([await begin({ databaseUrl: url })]);
  });

  it('with two processes on one database', async () => {
    const { url } = await createDatabase();
    await story(await Promise.all([begin({ databaseUrl: url }), begin({ databaseUrl: url })]));
  });
});
