/** The description of the API: forms of schemas in and out, names of components, problems by status. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import { type Operation, operation } from '../kernel/action.ts';
import { defineErrors } from '../kernel/errors.ts';
import { describeApi, type OpenApiAnswer, openApiOperation } from './openapi.ts';

const errors = defineErrors('SAMPLE', {
  internal: ['001', 500, 'Unexpected error'],
  invalid: ['002', 400, 'Invalid Sample'],
  missing: ['003', 404, 'Sample not found'],
});

const sample = (changes: Partial<Operation<never>>): Operation =>
  operation({
    id: 'sample.do',
    tag: 'sample',
    method: 'POST',
    path: '/api/v1/samples',
    capabilities: ['configuration'],
    class: 'configuration',
    permission: ['configuration:sample:manage'],
    audit: 'not-audited',
    invalid: errors.invalid,
    unexpected: errors.internal,
    errors: [errors.missing],
    answers: { 204: null },
    run: async () => ({}),
    ...changes,
  });
const document = (...changes: readonly Partial<Operation<never>>[]) => describeApi(changes.map(sample), { version: '1' });
const only = (changes: Partial<Operation<never>>) => {
  const { paths, components } = document(changes);
  return { ...Object.values(Object.values(paths)[0]!)[0]!, schemas: components.schemas };
};
const bodyOf = (body: z.ZodType) => only({ body: body as z.ZodType<never> }).requestBody!.content['application/json']!.schema;
const answerOf = (answer: z.ZodType) =>
  (only({ answers: { 200: answer } }).responses['200'] as OpenApiAnswer).content!['application/json']!.schema;

it('accepts null for whatever may be left out of a request, and nowhere else', () => {
  const schema = z.object({
    name: z.string(),
    text: z.string().optional(),
    kind: z.enum(['a', 'b']).default('a'),
    fixed: z.literal('x').optional(),
    either: z.union([z.string().max(3), z.int()]).optional(),
    already: z.boolean().nullable().optional(),
    anything: z.unknown().optional(),
    list: z.array(z.object({ inner: z.boolean().optional() })),
    record: z.record(z.string(), z.boolean()),
  });
  assert.deepEqual(bodyOf(schema)['properties'], {
    name: { type: 'string' },
    text: { type: ['string', 'null'] },
    kind: { default: 'a', type: ['string', 'null'], enum: ['a', 'b', null] },
    fixed: { type: ['string', 'null'], enum: ['x', null] },
    either: {
      anyOf: [{ type: 'string', maxLength: 3 }, { type: 'integer' }, { type: 'null' }],
    },
    already: { type: ['boolean', 'null'] },
    anything: {},
    list: { type: 'array', items: { type: 'object', properties: { inner: { type: ['boolean', 'null'] } } } },
    record: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: { type: ['boolean', 'null'] } },
  });
  assert.deepEqual(bodyOf(schema)['required'], ['name', 'list', 'record']);
});

it('promises in an answer what is always there', () => {
  const schema = z.object({ text: z.string().optional(), kind: z.enum(['a', 'b']).default('a'), gone: z.null() });
  assert.deepEqual(answerOf(schema), {
    type: 'object',
    properties: { text: { type: 'string' }, kind: { default: 'a', type: 'string', enum: ['a', 'b'] }, gone: { type: 'null' } },
    required: ['kind', 'gone'],
  });
});

const alike = z.object({ lang: z.string() }).meta({ id: 'Alike' });
const unlike = z.object({ value: z.string().optional() }).meta({ id: 'Unlike' });
const outer = z.object({ unlike }).meta({ id: 'Outer' });

it('gives a schema one name when it is the same both ways, two when it or what it refers to differs', () => {
  const { components, paths } = document({
    body: z.object({ alike, outer }) as unknown as z.ZodType<never>,
    answers: { 200: z.array(outer), 201: alike },
  });
  assert.deepEqual(Object.keys(components.schemas), ['Alike', 'Outer', 'OuterResponse', 'Unlike', 'UnlikeResponse', 'Problem']);
  assert.deepEqual(components.schemas['OuterResponse']!['properties'], { unlike: { $ref: '#/components/schemas/UnlikeResponse' } });
  const { post } = paths['/api/v1/samples']!;
  assert.deepEqual((post!.responses['200'] as OpenApiAnswer).content!['application/json']!.schema['items'], {
    $ref: '#/components/schemas/OuterResponse',
  });
});

it('refuses two schemas of one name', () => {
  const other = z.object({ lang: z.int() }).meta({ id: 'Alike' });
  assert.throws(
    () => document({ body: alike as unknown as z.ZodType<never> }, { path: '/api/v1/others', body: other as unknown as z.ZodType<never> }),
    /two schemas are called 'Alike'/,
  );
  const taken = z.object({ x: z.string() }).meta({ id: 'UnlikeResponse' });
  assert.throws(
    () => document({ body: unlike as unknown as z.ZodType<never>, answers: { 200: unlike, 201: taken } }),
    /two schemas are called 'UnlikeResponse'/,
  );
});

it('says what tells the members of a union apart', () => {
  const first = z.object({ type: z.literal('first') }).meta({ id: 'First' });
  const second = z.object({ type: z.literal(['second', 'other']), note: z.string().optional() }).meta({ id: 'Second' });
  const ref = (name: string) => `#/components/schemas/${name}`;
  assert.deepEqual(bodyOf(z.discriminatedUnion('type', [first, second])), {
    oneOf: [{ $ref: ref('First') }, { $ref: ref('Second') }],
    discriminator: { propertyName: 'type', mapping: { first: ref('First'), second: ref('Second'), other: ref('Second') } },
  });
});

it('describes parameters of path and query', () => {
  const query = z.object({
    types: z.preprocess((value) => [value].flat(), z.array(z.string())).optional(),
    all: z.stringbool(),
    limit: z.coerce.number().default(5),
  });
  const { paths } = document({ method: 'GET', path: '/api/v1/samples/:id/parts/:part', match: { id: 'id' }, query });
  assert.deepEqual(paths['/api/v1/samples/{id}/parts/{part}']!['get']!.parameters, [
    { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[0-9a-fA-F]{24}$' } },
    { name: 'part', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'types', in: 'query', required: false, schema: { type: 'array', items: { type: 'string' } } },
    { name: 'all', in: 'query', required: true, schema: { type: 'boolean' } },
    { name: 'limit', in: 'query', required: false, schema: { default: 5, type: 'number' } },
  ]);
});

const codes = (changes: Partial<Operation<never>>) =>
  Object.fromEntries(
    Object.entries(only(changes).responses).flatMap(([status, answer]) => ('x-errors' in answer ? [[status, answer['x-errors']]] : [])),
  );
const auth = (...numbers: readonly number[]) => numbers.map((number) => `SEC-AUTH-00${number}`);

it('groups problems by the status that the class of the operation gives them', () => {
  assert.deepEqual(codes({ body: alike as unknown as z.ZodType<never> }), {
    400: ['SAMPLE-002'],
    401: auth(2, 3, 4, 5, 6, 7, 8, 9),
    403: ['LIC-002', 'LIC-004', 'SEC-PERM-001'],
    404: ['SAMPLE-003'],
    500: ['LIC-001', 'SAMPLE-001', 'SEC-AUTH-001'],
  });
  assert.deepEqual(codes({ class: 'lifecycle', permission: 'authenticated', errors: [errors.missing.at(400)] }), {
    400: ['SAMPLE-003', 'SEC-AUTH-007', 'SEC-AUTH-008'],
    401: auth(2, 9),
    403: ['LIC-002', 'LIC-004', ...auth(3, 4, 5, 6)],
    500: ['LIC-001', 'SAMPLE-001', 'SEC-AUTH-001'],
  });
  assert.deepEqual(codes({ class: 'open', permission: 'public', errors: [] })['401'], auth(2, 9));
});

it('is the same whatever the order of the operations', () => {
  const changes: readonly Partial<Operation<never>>[] = [
    { body: z.object({ unlike, alike }) as unknown as z.ZodType<never> },
    { id: 'sample.list', method: 'GET', tag: 'a', answers: { 200: z.array(unlike), 204: null } },
    { id: 'sample.csv', method: 'GET', path: '/api/v1/samples/csv', answers: { 200: 'text/csv' } },
  ];
  assert.equal(JSON.stringify(document(...changes)), JSON.stringify(document(...[...changes].reverse())));
});

it('names the operation that cannot be described', () => {
  assert.throws(
    () => document({ answers: { 200: z.string().transform(Number) } }),
    /sample\.do cannot be described: Transforms cannot be represented/,
  );
});

it('is served, itself included, and made once', async () => {
  let made = 0;
  const served: Operation = openApiOperation(() => ({ made: ++made, ...describeApi([served], { version: '1' }) }));
  const input = { params: {}, query: {}, body: undefined as never };
  const context = undefined as unknown as Parameters<Operation['run']>[1];
  const [first, second] = [await served.run(input, context), await served.run(input, context)];
  assert.equal(first.answer, second.answer);
  assert.deepEqual(Object.keys(JSON.parse(String(first.answer)).paths), ['/api/v1/openapi.json']);
});
