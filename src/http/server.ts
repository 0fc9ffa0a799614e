/** The listener: limits, errors of the framework in our own words, one log line a request. The only file that starts the web framework. */
import { METHODS } from 'node:http';
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import { routeErrors, type Thrower } from '../kernel/errors.ts';
import { type JsonApi, mountJsonApi, refusal, send } from './json.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who called, for the log line. */
    principal: string | null;
  }
  interface FastifyContextConfig {
    /** Id of the operation that a route serves. */
    operation?: string;
  }
}

export interface ServerOptions {
  readonly bodyBytes: number;
  /** Addresses or networks whose forwarding headers are believed. */
  readonly trustedProxies: readonly string[];
  readonly log: Logger;
  /** How long a request may take to arrive; default 30 seconds. */
  readonly requestMs?: number;
  /** Told of each answer. */
  observe(operation: string, status: number, seconds: number): void;
}

const requestLineBytes = 16 * 1024;
const served = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Errors that the framework raises before an operation is reached. */
const frameworkErrors: Readonly<Record<string, Thrower>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: routeErrors.tooLarge,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: routeErrors.contentType,
  FST_ERR_BAD_URL: routeErrors.unknown,
  FST_ERR_MAX_PARAM_LENGTH: routeErrors.unknown,
};

/** What is no request, or none in time. */
const connectionErrors: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

export function createServer(
  api: JsonApi,
  { bodyBytes, trustedProxies, log, requestMs = 30_000, observe }: ServerOptions,
): FastifyInstance {
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyBytes,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    requestTimeout: requestMs,
    keepAliveTimeout: 72_000,
    // Said here too: set afterwards, it leaves `headersTimeout` above it, and a slow body is then waited for that long.
    http: { maxHeaderSize: 2 * requestLineBytes, requestTimeout: requestMs, connectionsCheckingInterval: requestMs / 10 },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: requestLineBytes },
    frameworkErrors: (_, __, reply) => send(reply as FastifyReply, refusal(routeErrors.unknown)),
    clientErrorHandler(error, socket) {
      log.debug({ err: error }, 'a connection sent no valid HTTP');
      const status = connectionErrors[error.code ?? ''] ?? '400 Bad Request';
      if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    },
  });
  // All are known to the router, so that a path which exists is told from one which does not; bodies of those never served stay unread.
  for (const method of METHODS) if (!served.includes(method)) server.addHttpMethod(method, { overrideExisting: true });
  server.decorateRequest('principal', null);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.setNotFoundHandler((_request, reply) => send(reply, refusal(routeErrors.unknown)));
  server.setErrorHandler((error: { code?: string }, request, reply) => {
    const known = frameworkErrors[error.code ?? ''];
    if (error.code === 'ECONNRESET') request.log.debug({ err: error }, 'the caller left before its request was complete');
    else if (!known) request.log.error({ err: error }, 'the framework failed');
    return send(reply, refusal(known ?? routeErrors.unavailable));
  });
  server.addHook('onResponse', async (request, reply) => {
    observe(request.routeOptions.config.operation ?? 'none', reply.statusCode, reply.elapsedTime / 1000);
    logLine(request, reply);
  });
  mountJsonApi(server, api);
  return server;
}

/** The path is the route's, not the caller's: what callers put into URLs stays out of the log. */
function logLine(request: FastifyRequest, reply: FastifyReply): void {
  const { method, ip, principal, routeOptions } = request;
  request.log.info(
    { method, path: routeOptions.url ?? 'unknown', status: reply.statusCode, ms: Math.round(reply.elapsedTime * 10) / 10, ip, principal },
    'request',
  );
}
