/** Operations as routes of the JSON API: who calls, on which host, with which body; the answer as bytes. Decides nothing. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import secureJson from 'secure-json-parse';
import type { Capability, Operation, Reply } from '../kernel/action.ts';
import type { Context } from '../kernel/context.ts';
import { authErrors, isOutage, routeErrors, ServiceError, type Thrower } from '../kernel/errors.ts';
import { Malformed, type Performer, problem } from '../kernel/perform.ts';
import type { Credentials, Principal } from '../kernel/principal.ts';

export interface JsonApi {
  readonly operations: readonly Operation[];
  readonly performer: Performer;
  /** What a host serves; undefined for a host that is none of ours. */
  hosts(header: readonly string[] | undefined): ReadonlySet<Capability> | undefined;
  /** The context of a call before it is known who calls. */
  context(caller: Context['caller']): Promise<Context>;
  authenticate(credentials: Credentials, context: Context): Promise<Principal>;
}

export function mountJsonApi(server: FastifyInstance, api: JsonApi): void {
  const byPath = new Map<string, Operation[]>();
  for (const operation of api.operations) {
    const path = routePath(operation);
    byPath.set(path, [...(byPath.get(path) ?? []), operation]);
  }
  for (const [url, operations] of byPath) {
    for (const operation of operations) {
      server.route({
        method: operation.method,
        url,
        handler: (request, reply) => answer(operation, api, request, reply),
        config: { operation: operation.id },
      });
    }
    const allowed = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const served = new Set(operations.flatMap((operation) => operation.capabilities));
    server.route({
      method: server.supportedMethods.filter((method) => !allowed.includes(method)),
      url,
      handler: (request, reply) => {
        if (!mayServe(api.hosts(hostsOf(request)), [...served])) return send(reply, refusal(routeErrors.unknown));
        return send(reply.header('allow', allowed.join(', ')), refusal(routeErrors.method));
      },
    });
  }
}

/** `:id` of an operation that takes ids alone, and a tail that holds slashes, in the router's notation. */
function routePath({ path, match }: Operation): string {
  return path.replace(
    /:(\w+)/g,
    (whole, name: string) => ({ id: `${whole}(^[0-9a-fA-F]{24}$)`, rest: '*', segment: whole })[match?.[name] ?? 'segment'],
  );
}

const mayServe = (granted: ReadonlySet<Capability> | undefined, wanted: readonly Capability[]): boolean =>
  wanted.some((capability) => granted?.has(capability));

/** RFC 9112 §3.2.2: the authority of an absolute form stands in for the Host header. Two headers stay two. */
function hostsOf({ raw }: FastifyRequest): readonly string[] | undefined {
  const given = raw.headersDistinct['host'];
  const authority = /^https?:\/\/([^/]*)/i.exec(raw.url ?? '')?.[1];
  return authority === undefined ? given : [authority, ...(given ?? []).slice(1)];
}

async function answer(operation: Operation, api: JsonApi, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (!mayServe(api.hosts(hostsOf(request)), operation.capabilities)) return send(reply, refusal(routeErrors.unknown));
  try {
    if (operation.body && !isJson(request))
      throw routeErrors.contentType(`this path takes application/json, not '${request.headers['content-type'] ?? 'nothing'}'`);
    const context = await api.context({ ip: request.ip, verb: request.method, path: operation.path });
    const principal = await api.authenticate(credentials(request), context);
    if (principal.identifier !== undefined) request.principal = principal.identifier;
    const input = {
      params: params(operation, request),
      query: query(operation, request),
      body: operation.body ? body(request) : undefined,
    };
    return send(reply, await api.performer.perform(operation, input, withPrincipal(context, principal)));
  } catch (error) {
    if (error instanceof ServiceError) return send(reply, problem(error, operation.class));
    request.log.error({ err: error }, 'a call failed before its action');
    return send(reply, problem(isOutage(error) ? routeErrors.unavailable() : authErrors.unexpected(), operation.class));
  }
}

export const withPrincipal = (context: Context, principal: Principal): Context => ({
  ...context,
  principal,
  renewed: async () => withPrincipal(await context.renewed(), principal),
});

const header = ({ headers }: FastifyRequest, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

function credentials(request: FastifyRequest): Credentials {
  const [apiId, apiKey, provider] = ['x-api-id', 'x-api-key', 'x-api-idprov'].map((name) => header(request, name));
  return {
    ...(apiId === undefined ? {} : { apiId }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(provider === undefined ? {} : { provider }),
  };
}

function params({ path, match }: Operation, request: FastifyRequest): Record<string, string> {
  const { '*': tail, ...given } = request.params as Record<string, string>;
  const rest = Object.entries(match ?? {}).find(([, kind]) => kind === 'rest')?.[0];
  return rest && path.endsWith(`:${rest}`) ? { ...given, [rest]: tail ?? '' } : given;
}

function query(operation: Operation, request: FastifyRequest): Record<string, string | string[]> {
  const given = { ...(request.query as Record<string, string | string[]>) };
  const parsed = operation.query?.safeParse(given);
  if (parsed && !parsed.success)
    throw operation.invalid(`query parameter ${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`);
  return given;
}

const isJson = (request: FastifyRequest): boolean => /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '');

/** Keys that could reach a prototype are dropped; what is no JSON is told to the action, which refuses it once the caller may ask at all. */
function body(request: FastifyRequest): unknown {
  const bytes = request.body as Buffer | undefined;
  try {
    return secureJson.parse(bytes ?? '', null, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    return new Malformed('the body is not JSON');
  }
}

export const refusal = (kind: Thrower, detail?: string): Reply => problem(kind(detail), 'open');

/** Media types without a charset: old clients compare them exactly. */
export function send(reply: FastifyReply, { status, body: content, mediaType }: Reply): FastifyReply {
  reply.code(status).header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
  if (content === undefined) return reply.send();
  const bytes = typeof content === 'string' || content instanceof Uint8Array ? Buffer.from(content) : Buffer.from(JSON.stringify(content));
  return reply.header('content-type', mediaType ?? 'application/json').send(bytes);
}
