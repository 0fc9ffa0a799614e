/**
 * No right, no entry: every operation is called by nobody, with bad credentials and by somebody without a permission. What each of them must be
 * told follows from the operation's class and permission (wire.md 0.3), never from a list of exemptions.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { describeApp } from '../../src/app.ts';
import type { Operation } from '../../src/kernel/action.ts';
import { authErrors, type ErrorKind, permissionErrors } from '../../src/kernel/errors.ts';
import { statusOf } from '../../src/kernel/perform.ts';
import { type Answer, type Client, createClient } from '../support/client.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { administratorSecret, openapi, type RunningService, startService } from '../support/service.ts';
import { root } from './sources.ts';

const { operations } = describeApp();

const identifier = 'without-a-right';
const password = 'a long enough password';
let database: TestDatabase;
let service: RunningService;

const id = 'f'.repeat(24);
const fixture = (name: string): string => readFileSync(join(root, 'src/lib/x509/fixtures', name), 'utf8');
const pem = fixture('p256.pem');
const asked = { module: 'webra', workflow: 'enroll', profile: 'lab', template: { csr: fixture('p256.csr.pem') } };
const decided = { _id: id, module: 'webra', workflow: 'enroll' };
/** Where the object decides, a body that gets as far as the decision; `{}` is one for searches. */
const bodies: Readonly<Record<string, unknown>> = {
  'certificate.list': [id],
  'certificate.find': { id },
  'request.template': asked,
  'request.submit': asked,
  'request.approve': { ...decided, template: {} },
  'request.deny': decided,
  'request.cancel': decided,
};

/** What its parameters stand for where the router or the operation demands a form. */
const parameters: Readonly<Record<string, string>> = { id, pem: encodeURIComponent(pem) };

/** A path that exists, of an object that does not. */
function callOf({ id: name, method, path, body }: Operation): readonly [method: string, path: string, body: unknown] {
  const filled = path.replace(/:(\w+)/g, (_, parameter: string) => parameters[parameter] ?? 'nothing');
  return [method, filled, body ? (bodies[name] ?? {}) : undefined];
}
const call = (client: Client, operation: Operation): Promise<Answer> => client.call(...callOf(operation));

/** Each is somebody else from somewhere else, or failed logins would slow each other down. */
const stranger = (url: string): Client => {
  strangers += 1;
  return createClient({
    url,
    openapi,
    apiId: `stranger-${strangers}`,
    apiKey: 'no secret',
    headers: { 'x-forwarded-for': `10.0.${strangers >> 8}.${strangers & 255}` },
  });
};
let strangers = 0;

const refusedWith = (answer: Answer, kind: ErrorKind, operation: Operation): void => {
  const { error } = (answer.body ?? {}) as { error?: string };
  assert.deepEqual([answer.status, error], [statusOf(kind, operation.class), kind.code], JSON.stringify(answer.body));
};

/** Nothing is told and nothing was done: a refusal for another reason than the form of what was sent, no content, or a page without results. */
function isNothing({ status, body }: Answer, { invalid }: Operation): boolean {
  if (status >= 400) return (body as { error: string }).error !== invalid.code;
  if (status === 204) return true;
  const { results, ...page } = (body ?? {}) as { results?: unknown };
  const isEmptyPage = Array.isArray(results) && results.length === 0 && Object.values(page).every((value) => typeof value !== 'object');
  return isEmptyPage || (Array.isArray(body) && body.length === 0) || Object.keys(body as object).length === 0;
}

describe('no right, no entry', { concurrency: 4 }, () => {
  before(async () => {
    database = await createDatabase();
    service = await startService({
      databaseUrl: database.url,
      settings: { PERENNIAL_LAB_ENABLED: 'true', PERENNIAL_TRUSTED_PROXIES: '127.0.0.1' },
    });
    const administrator = service.client('administrator', administratorSecret);
    assert.equal((await administrator.call('POST', '/api/v1/security/identity/locals', { identifier })).status, 201);
    assert.equal((await administrator.call('PATCH', '/api/v1/security/identity/locals', { identifier, password })).status, 204);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  for (const operation of operations) {
    const { permission } = operation;

    it(`${operation.id}: nobody`, async () => {
      const answer = await call(service.client(), operation);
      if (permission === 'public') return assert.notEqual((answer.body as { error?: string } | undefined)?.error, authErrors.nobody.code);
      if (permission === 'by-object') return assert.ok(isNothing(answer, operation), JSON.stringify(answer.body));
      refusedWith(answer, authErrors.nobody, operation);
    });

    it(`${operation.id}: bad credentials`, async () => {
      refusedWith(await call(stranger(service.url), operation), authErrors.credentials, operation);
    });

    it(`${operation.id}: nothing granted`, async () => {
      const answer = await call(service.client(identifier, password), operation);
      if (typeof permission === 'object') return refusedWith(answer, permissionErrors.denied, operation);
      if (permission === 'by-object') assert.ok(isNothing(answer, operation), JSON.stringify(answer.body));
      // What everybody may do who is logged in shows no more than their own.
      if (permission === 'authenticated') assert.ok(answer.status === 204 || answer.status >= 400, JSON.stringify(answer.body));
    });
  }
});
