/**
 * The management listener: liveness, readiness and metrics on a port of their own, without login, so on loopback unless told otherwise.
 * Not part of the service's API: it knows no host names, no capabilities and no web framework.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';

/** Resolves when the thing checked works. The words it rejects with are shown to whoever reaches the port. */
export type ReadinessCheck = () => Promise<unknown>;

export interface ManagementOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** By name: `{ database: () => … }`. */
  readonly ready: Readonly<Record<string, ReadinessCheck>>;
  readonly registry: Pick<Registry, 'metrics' | 'contentType'>;
}

export interface Management {
  readonly port: number;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const checkTimeoutMs = 2_000;

const plain = (status: number, body: string): Answer => ({ status, type: 'text/plain; charset=utf-8', body: `${body}\n` });

const words = (reason: unknown): string => (reason instanceof Error && reason.message.split('\n')[0]) || 'failed';

const within = (check: Promise<string>): Promise<string> => {
  const timer = new AbortController();
  const late = sleep(checkTimeoutMs, `no answer within ${checkTimeoutMs / 1000} s`, { signal: timer.signal }).catch(() => 'ok');
  return Promise.race([check, late]).finally(() => timer.abort());
};

/** A check that still hangs from an earlier question is not started again, so questions cannot pile up behind a stuck database. */
const oneAtATime = (check: ReadinessCheck): (() => Promise<string>) => {
  let running: Promise<string> | undefined;
  const run = async (): Promise<string> => {
    try {
      await check();
      return 'ok';
    } catch (reason) {
      return words(reason);
    }
  };
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return within(running);
  };
};

const readiness = (ready: ManagementOptions['ready']): (() => Promise<Answer>) => {
  const checks = Object.entries(ready).map(([name, check]) => [name, oneAtATime(check)] as const);
  return async () => {
    const results = await Promise.all(checks.map(async ([name, check]) => [name, await check()] as const));
    const isReady = results.every(([, result]) => result === 'ok');
    const body = JSON.stringify({ ready: isReady, checks: Object.fromEntries(results) });
    return { status: isReady ? 200 : 503, type: 'application/json', body };
  };
};

const send = (response: ServerResponse, { status, type, body }: Answer): void => {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store' }).end(body);
};

const listening = (server: Server, host: string, port: number): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });

/** Rejects when the port cannot be listened on. */
export const startManagement = async ({ host, port, ready, registry }: ManagementOptions): Promise<Management> => {
  const pages = new Map<string, () => Promise<Answer>>([
    ['/live', async () => plain(200, 'live')],
    ['/ready', readiness(ready)],
    ['/metrics', async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() })],
  ]);
  const notFound = async (): Promise<Answer> => plain(404, 'not found');
  const server = createServer((request, response) => {
    const page = request.method === 'GET' || request.method === 'HEAD' ? pages.get(request.url?.split('?')[0] ?? '') : undefined;
    (page ?? notFound)()
      .catch(() => plain(500, 'failed'))
      .then((answer) => send(response, answer));
  });
  const address = await listening(server, host, port);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: address.port, close };
};
