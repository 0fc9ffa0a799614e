/** What journeys have in common: answers as expected, people with rights, a profile, the trail. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { type Answer, at, type Client } from './client.ts';
import type { RunningService } from './service.ts';
import { until } from './until.ts';

/** The body of an answer of this status. */
export function is(status: number, { status: got, body }: Answer): unknown {
  assert.equal(got, status, JSON.stringify(body));
  return body;
}

/** A refusal of this status and code; the body. */
export function refused(status: number, code: string, { status: got, body }: Answer): unknown {
  assert.deepEqual([got, at(body, 'error')], [status, code], JSON.stringify(body));
  return body;
}

/** Somebody new who holds these permissions; the secret is `secret of` and the name. Answers a client at each service. */
export async function person(
  admin: Client,
  identifier: string,
  permissions: readonly string[],
  services: readonly RunningService[],
): Promise<readonly Client[]> {
  const password = `secret of ${identifier}`;
  is(201, await admin.call('POST', '/api/v1/security/identity/locals', { identifier }));
  is(204, await admin.call('PATCH', '/api/v1/security/identity/locals', { identifier, password }));
  await grant(admin, 'POST', identifier, permissions);
  return services.map((service) => service.client(identifier, password));
}

/** Gives somebody these permissions (POST), or no others than these (PUT). */
export async function grant(admin: Client, method: 'POST' | 'PUT', identifier: string, permissions: readonly string[]): Promise<void> {
  const info = {
    identifier,
    contact: `${identifier}@corp.test`,
    permissions: permissions.map((value) => ({ value })),
    roles: [],
    enabled: true,
  };
  is(method === 'POST' ? 201 : 200, await admin.call(method, '/api/v1/security/principalinfos', info));
}

const authorized = { accessLevel: 'authorized' };
const editable = { editableByRequester: true, editableByApprover: true };

/** A profile that takes any CSR: a CN and DNS names, by request or directly. */
export const profileNamed = (name: string, pkiConnector: string, more: object = {}) => ({
  module: 'webra',
  name,
  enabled: true,
  authorizationMode: 'authorized',
  pkiConnector,
  authorizationLevels: Object.fromEntries(
    ['enroll', 'enrollApi', 'requestEnroll', 'approveEnroll', 'search', 'update', 'requestUpdate', 'approveUpdate'].map((right) => [
      right,
      authorized,
    ]),
  ),
  requestsPolicy: { enroll: '3 days' },
  cryptoPolicy: { decentralized: true },
  selfPermissions: {},
  certificateTemplate: { subject: [{ type: 'CN', mandatory: true, ...editable }], sans: [{ type: 'DNSNAME', ...editable }] },
  ...more,
});

/** Runs one statement in the database behind the service's back; the rows. */
export async function sql(url: string, text: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** Asks for an integrity run; what it found. */
export async function integrity(admin: Client): Promise<unknown> {
  const newest = async () =>
    at((await admin.call('GET', '/api/v1/events/integrity')).body, '0') as { _id: string; status: string } | undefined;
  const before = (await newest())?._id;
  is(204, await admin.call('GET', '/api/v1/events/integrity/run'));
  await until(async () => {
    const now = await newest();
    return now !== undefined && now._id !== before && now.status !== 'running';
  });
  return (await newest())!.status;
}
