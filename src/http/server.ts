/** The listener: limits, errors of the framework in our own words, one log line a request. The only file that starts the web framework. */
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
  /** Told of each answer. */
  observe(operation: string, status: number, seconds: number): void;
}

const requestLineBytes = 16 * 1024;

/** Errors that the framework raises before an operation is reached. */
const frameworkErrors: Readonly<Record<string, Thrower>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: routeErrors.tooLarge,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: routeErrors.contentType,
  FST_ERR_BAD_URL: routeErrors.unknown,
  FST_ERR_MAX_PARAM_LENGTH: routeErrors.unknown,
};

export function createServer(api: JsonApi, { bodyBytes, trustedProxies, log, observe }: ServerOptions): FastifyInstance {
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyBytes,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    http: { maxHeaderSize: 2 * requestLineBytes },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: requestLineBytes },
    frameworkErrors: (_, __, reply) => send(reply as FastifyReply, refusal(routeErrors.unknown)),
    clientErrorHandler(error, socket) {
      log.debug({ err: error }, 'a connection sent no valid HTTP');
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    },
  });
  server.decorateRequest('principal', null);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.setNotFoundHandler((_request, reply) => send(reply, refusal(routeErrors.unknown)));
  server.setErrorHandler((error: { code?: string }, request, reply) => {
    const known = frameworkErrors[error.code ?? ''];
    if (!known) request.log.error({ err: error }, 'the framework failed');
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
