/** A client for tests that believes nothing: an answer that is not as api/openapi.json describes it is an error. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type JsonSchema, mapSchema } from '../../src/http/json-schema.ts';
import type { OpenApi, OpenApiAnswer, OpenApiOperation } from '../../src/http/openapi.ts';

export interface ClientOptions {
  /** Without a trailing slash. */
  readonly url: string;
  readonly apiId?: string;
  readonly apiKey?: string;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly openapi: OpenApi;
}

export interface Answer {
  readonly status: number;
  /** The value of JSON, the text of any other type, undefined when there is none. */
  readonly body: unknown;
  readonly headers: Headers;
}

export interface Client {
  /** `path` may have a query; `body` is sent as JSON. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

export function createClient({ url, apiId, apiKey, headers: more, openapi }: ClientOptions): Client {
  const check = createCheck(openapi);
  const credentials = { ...(apiId === undefined ? {} : { 'x-api-id': apiId }), ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) };
  return {
    async call(method, path, body) {
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const headers = { ...credentials, ...more, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
      const response = await fetch(`${url}${path}`, { method, headers, redirect: 'manual', ...content });
      const { status } = response;
      const text = await response.text();
      const type = response.headers.get('content-type') ?? undefined;
      check({ method, path, status, type, text });
      return { status, body: parsed(type, text), headers: response.headers };
    },
  };
}

const isJson = (type: string | undefined): boolean => /^application\/([a-z.+-]+\+)?json$/.test(type ?? '');
const parsed = (type: string | undefined, text: string): unknown => (isJson(type) ? JSON.parse(text) : text === '' ? undefined : text);

interface Received {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

/** Makes a function that throws for an answer which the description does not allow. */
export function createCheck(openapi: OpenApi): (received: Received) => void {
  const templates = Object.keys(openapi.paths)
    .map((path) => ({ path, ...matcherOf(path, openapi) }))
    .sort((a, b) => b.literals - a.literals);
  const validatorFor = createValidators(openapi);

  const find = (method: string, path: string): OpenApiOperation | undefined => {
    const plain = path.replace(/\?.*$/s, '').replace(/(?<=.)\/$/, '');
    const fitting = templates
      .filter(({ matches }) => matches(plain))
      .map((template) => openapi.paths[template.path]?.[method.toLowerCase()]);
    return fitting.find((operation) => operation !== undefined);
  };
  const answerOf = (operation: OpenApiOperation, status: string): OpenApiAnswer | undefined => {
    const answer = operation.responses[status];
    return answer && '$ref' in answer ? openapi.components.responses[answer.$ref.split('/').at(-1)!] : answer;
  };

  return ({ method, path, status, type, text }) => {
    const demand = (holds: unknown, words: string): void => {
      if (!holds)
        throw new Error(`${method} ${path} answered ${status} ${type ?? 'without a content type'}: ${words}\n${text.slice(0, 2_000)}`);
    };
    const operation = find(method, path);
    demand(operation, 'no such operation is described');
    const [own, frame] = [answerOf(operation!, String(status)), answerOf(operation!, 'default')];
    const code = type === 'application/problem+json' ? (JSON.parse(text) as { error: string }).error : undefined;
    const answer = code !== undefined && frame?.['x-errors']?.includes(code) ? frame : own;
    demand(answer, 'this status is not described');
    if (!answer!.content) return demand(text === '' && type === undefined, 'no content is described');
    const media = answer!.content[type ?? ''];
    demand(media, `the content described is ${Object.keys(answer!.content).join(' or ')}`);
    if (code !== undefined) demand(answer!['x-errors']?.includes(code), `${code} is not among ${answer!['x-errors']?.join(' ')}`);
    const validate = validatorFor(media!.schema);
    demand(
      validate(parsed(type, text)),
      (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`).join('; '),
    );
  };
}

/** How much of a path is fixed decides which of several templates it means; a last parameter may hold slashes. */
function matcherOf(path: string, { paths }: OpenApi) {
  const parameters = Object.values(paths[path]!).flatMap((operation) => operation.parameters ?? []);
  const segments = path.slice(1).split('/');
  const sources = segments.map((segment, i) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) return segment.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
    const pattern = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.schema['pattern'];
    return typeof pattern === 'string' ? pattern.slice(1, -1) : i === segments.length - 1 ? '.+' : '[^/]+';
  });
  const expression = new RegExp(`^/${sources.join('/')}$`);
  const literals = sources.filter((source) => !source.endsWith('+')).length + segments.length / 100;
  return { matches: (plain: string) => expression.test(plain), literals };
}

/** Objects are closed for checking: the description leaves room for later fields, an answer of today has none of them. */
function createValidators({ components }: OpenApi): (schema: JsonSchema) => ValidateFunction {
  const close = (schema: JsonSchema): JsonSchema =>
    mapSchema(schema, (one) => ('properties' in one && !('additionalProperties' in one) ? { ...one, additionalProperties: false } : one));
  const schemas = Object.fromEntries(Object.entries(components.schemas).map(([name, schema]) => [name, close(schema)]));
  // Each form of text is described by a pattern besides its format.
  const ajv = new Ajv2020({
    validateFormats: false,
    allowUnionTypes: true,
    allErrors: true,
    strictRequired: false,
    strictTypes: false,
  });
  ajv.addVocabulary(['components', 'discriminator']);
  const made = new Map<JsonSchema, ValidateFunction>();
  return (schema) => {
    const known = made.get(schema) ?? ajv.compile({ ...close(schema), components: { schemas } });
    made.set(schema, known);
    return known;
  };
}

/** What stands in a body at `a.0.b`; undefined where there is nothing. */
export const at = (body: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], body);
