/** The API as an OpenAPI 3.1 document, made of the operations themselves: what is described is what is checked and sent. */
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { type Operation, type OperationClass, operation } from '../kernel/action.ts';
import { authErrors, type ErrorKind, licenseErrors, permissionErrors, routeErrors } from '../kernel/errors.ts';
import { statusOf } from '../kernel/perform.ts';
import { createComponents, type JsonSchema } from './json-schema.ts';

export interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, OpenApiAnswer>>;
    readonly securitySchemes: Readonly<Record<string, JsonSchema>>;
  };
}
export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly JsonSchema[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<Record<string, OpenApiAnswer | { readonly $ref: string }>>;
}
export interface OpenApiAnswer {
  readonly description: string;
  readonly content?: Content;
  /** The codes that problems of this status may have. */
  readonly 'x-errors'?: readonly string[];
}
type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

type Components = ReturnType<typeof createComponents>;

export function describeApi(operations: readonly Operation[], { version }: { readonly version: string }): OpenApi {
  const components = createComponents();
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const one of [...operations].sort(byAddress)) {
    const path = one.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: describeOperation(one, components) };
  }
  const { document, schemas } = components.named(paths);
  return {
    openapi: '3.1.0',
    info: { title: 'Perennial', version },
    tags: [...new Set(operations.map(({ tag }) => tag))].sort().map((name) => ({ name })),
    paths: document,
    components: {
      schemas: { ...schemas, Problem: problemSchema },
      responses: {
        Frame: answerOfProblems(
          'Refused before the operation was reached',
          Object.values(routeErrors).map(({ code }) => code),
        ),
      },
      securitySchemes: {
        apiId: { type: 'apiKey', in: 'header', name: 'X-API-ID' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
      },
    },
  };
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const byAddress = (a: Operation, b: Operation): number =>
  a.path === b.path ? methods.indexOf(a.method) - methods.indexOf(b.method) : a.path < b.path ? -1 : 1;

function describeOperation(one: Operation, components: Components): OpenApiOperation {
  try {
    const parameters = [...pathParameters(one), ...queryParameters(one, components)];
    return {
      operationId: one.id,
      tags: [one.tag],
      security: one.permission === 'public' ? [] : [{ apiId: [], apiKey: [] }],
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(one.body ? { requestBody: { required: true, content: { 'application/json': { schema: components.request(one.body) } } } } : {}),
      responses: { ...successes(one, components), ...problems(one), default: { $ref: '#/components/responses/Frame' } },
    };
  } catch (error) {
    throw new Error(`${one.id} cannot be described: ${(error as Error).message}`, { cause: error });
  }
}

const pathParameters = ({ path, match }: Operation) =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
    const pattern = match?.[name!] === 'id' ? { pattern: '^[0-9a-fA-F]{24}$' } : {};
    return { name: name!, in: 'path' as const, required: true, schema: { type: 'string', ...pattern } };
  });

/** A query is text; a parameter is described as what is read from that text. Arrays repeat. */
function queryParameters({ query }: Operation, { request, answer }: Components) {
  if (!query) return [];
  const required = (request(query)['required'] ?? []) as readonly string[];
  return Object.entries(answer(query)['properties'] as Readonly<Record<string, JsonSchema>>).map(([name, schema]) => ({
    name,
    in: 'query' as const,
    required: required.includes(name),
    schema,
  }));
}

function successes({ answers }: Operation, components: Components): Record<string, OpenApiAnswer> {
  const contentOf = (answer: z.ZodType | string): Content =>
    typeof answer === 'string'
      ? { [answer]: { schema: { type: 'string' } } }
      : { 'application/json': { schema: components.answer(answer) } };
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      { description: wordsOf(status), ...(answer === null ? {} : { content: contentOf(answer) }) },
    ]),
  );
}

const wordsOf = (status: string): string => STATUS_CODES[status] ?? status;

function problems(one: Operation): Record<string, OpenApiAnswer> {
  const codes = new Map<number, string[]>();
  for (const { code, status } of errorsOf(one)) codes.set(status, [...(codes.get(status) ?? []), code]);
  return Object.fromEntries([...codes].map(([status, list]) => [status, answerOfProblems(wordsOf(String(status)), list)]));
}

const answerOfProblems = (description: string, codes: readonly string[]): OpenApiAnswer => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  'x-errors': [...codes].sort(),
});

const problemSchema: JsonSchema = {
  type: 'object',
  properties: {
    error: { type: 'string' },
    message: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
  },
  required: ['error', 'message', 'title', 'status'],
};

const { unexpected, credentials, untrusted, expiredCertificate, revokedCertificate, nobody, provider, redirect, expired } = authErrors;
const everyAuth = [unexpected, credentials, untrusted, expiredCertificate, revokedCertificate, nobody, provider, redirect, expired];

/** What the frame may answer before an operation decides (wire.md 0.3). */
const commonErrors: Readonly<Record<OperationClass, readonly ErrorKind[]>> = {
  configuration: everyAuth,
  lifecycle: everyAuth,
  dcv: [unexpected, credentials, nobody, expired],
  open: [unexpected, credentials, nobody, expired],
};

/** Every problem that an operation may answer, with the status it has there; each once, in the order of status and code. */
export function errorsOf(one: Operation): readonly Pick<ErrorKind, 'code' | 'status'>[] {
  const { permission } = one;
  const kinds = [
    ...one.errors,
    one.unexpected,
    ...(one.body || one.query ? [one.invalid] : []),
    ...commonErrors[one.class].filter((kind) => kind !== nobody || permission !== 'public'),
    ...(typeof permission === 'object' || permission === 'by-object' ? [permissionErrors.denied] : []),
    licenseErrors.unexpected,
    licenseErrors.invalid,
    licenseErrors.expired,
  ];
  const all = new Map(
    kinds.map((kind) => [`${statusOf(kind, one.class)} ${kind.code}`, { code: kind.code, status: statusOf(kind, one.class) }]),
  );
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, error]) => error);
}

/** `document` is asked once, at the first call: it describes this operation too. */
export function openApiOperation(document: () => unknown): Operation {
  let text: string | undefined;
  return operation({
    id: 'openapi.get',
    tag: 'openapi',
    method: 'GET',
    path: '/api/v1/openapi.json',
    capabilities: ['webra', 'events', 'configuration'],
    class: 'open',
    permission: 'public',
    audit: 'not-audited',
    invalid: authErrors.unexpected,
    unexpected: authErrors.unexpected,
    errors: [],
    answers: { 200: z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApi' }) },
    async run() {
      text ??= JSON.stringify(document());
      return { answer: text, mediaType: 'application/json' };
    },
  });
}
