/** The checking client: what it must refuse. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import { describeApi } from '../../src/http/openapi.ts';
import { type Operation, operation } from '../../src/kernel/action.ts';
import { defineErrors } from '../../src/kernel/errors.ts';
import { createCheck } from './client.ts';

const errors = defineErrors('SAMPLE', {
  internal: ['001', 500, 'Unexpected error'],
  invalid: ['002', 400, 'Invalid Sample'],
  missing: ['003', 404, 'Sample not found'],
});
const part = z.object({ name: z.string(), note: z.string().optional() }).meta({ id: 'Part' });

const sample = (changes: Partial<Operation<never>>): Operation =>
  operation({
    id: 'sample.get',
    tag: 'sample',
    method: 'GET',
    path: '/api/v1/samples/:id',
    capabilities: ['configuration'],
    class: 'configuration',
    permission: 'authenticated',
    audit: 'not-audited',
    invalid: errors.invalid,
    unexpected: errors.internal,
    errors: [errors.missing],
    answers: { 200: z.object({ part }), 204: null },
    run: async () => ({}),
    ...changes,
  });
const check = createCheck(
  describeApi(
    [
      sample({ match: { id: 'id' } }),
      sample({ id: 'sample.pem', path: '/api/v1/samples/:pem', match: { pem: 'rest' }, answers: { 200: 'text/plain' } }),
      sample({ id: 'sample.csv', path: '/api/v1/samples/csv', answers: { 200: 'text/csv' } }),
    ],
    { version: '1' },
  ),
);
const id = '0123456789abcdef01234567';
const answer = (changes: object) => ({
  method: 'GET',
  path: `/api/v1/samples/${id}`,
  status: 200,
  type: 'application/json',
  text: '{"part":{"name":"n"}}',
  ...changes,
});
const problem = (status: number, error: string, more: object = {}) =>
  answer({ status, type: 'application/problem+json', text: JSON.stringify({ error, message: 'm', title: 'm', status, ...more }) });

it('takes what is described', () => {
  check(answer({}));
  check(answer({ path: `/api/v1/samples/${id}/?x=1` }));
  check(answer({ status: 204, type: undefined, text: '' }));
  check(answer({ path: '/api/v1/samples/MII/x+y', type: 'text/plain', text: 'x' }));
  check(answer({ path: '/api/v1/samples/csv', type: 'text/csv', text: 'x' }));
  check(problem(404, 'SAMPLE-003', { detail: 'x' }));
  check(problem(413, 'ROUTE-003'));
});

const refused: Readonly<Record<string, readonly [object, RegExp]>> = {
  'a path': [answer({ path: '/api/v1/other' }), /no such operation/],
  'a method': [answer({ method: 'PUT' }), /no such operation/],
  'a status': [answer({ status: 201 }), /this status/],
  'a media type with a charset': [answer({ type: 'application/json; charset=utf-8' }), /the content described is application\/json/],
  'a body where there is none': [answer({ status: 204 }), /no content/],
  'an additional property': [
    answer({ text: '{"part":{"name":"n"},"more":1}' }),
    /must NOT have additional properties \{"additionalProperty":"more"\}/,
  ],
  'an additional property of a component': [
    answer({ text: '{"part":{"name":"n","more":1}}' }),
    /\/part must NOT have additional properties/,
  ],
  'a null in place of absence': [answer({ text: '{"part":{"name":"n","note":null}}' }), /\/part\/note must be string/],
  'a missing key': [answer({ text: '{"part":{}}' }), /required property 'name'/],
  'a code': [problem(404, 'SAMPLE-004'), /SAMPLE-004 is not among SAMPLE-003/],
  'a code at another status': [problem(400, 'SAMPLE-003'), /this status|not among/],
  'a problem of more fields': [problem(404, 'SAMPLE-003', { more: 1 }), /must NOT have additional/],
};
for (const [name, [received, words]] of Object.entries(refused)) {
  it(`refuses ${name}`, () => assert.throws(() => check(received as Parameters<typeof check>[0]), words));
}
