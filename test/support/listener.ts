/** The wire alone: a real listener over a few made-up operations, without a database; its log is kept, and bytes can be sent to it as they are. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Writable } from 'node:stream';
import pino from 'pino';
import { z } from 'zod';
import { createHosts, type Endpoint } from '../../src/http/hosts.ts';
import { createServer, type ServerOptions } from '../../src/http/server.ts';
import { capabilities, type Operation, operation } from '../../src/kernel/action.ts';
import type { Context } from '../../src/kernel/context.ts';
import { authErrors, defineErrors } from '../../src/kernel/errors.ts';
import { createPerformer } from '../../src/kernel/perform.ts';
import { nobody } from '../../src/kernel/principal.ts';
import { principalWith } from './context.ts';

export const canary = 'canary-4711';
const errors = defineErrors('THING', { internal: ['001', 500, 'Unexpected error'], invalid: ['002', 400, 'Invalid Thing'] });

const thing = (id: string, method: Operation['method'], path: string, more: Partial<Operation<never>>): Operation =>
  operation({
    id: `thing.${id}`,
    tag: 'thing',
    method,
    path: `/api/v1/things${path}`,
    capabilities: ['configuration'],
    class: 'configuration',
    permission: 'public',
    audit: 'not-audited',
    invalid: errors.invalid,
    unexpected: errors.internal,
    errors: [],
    answers: { 200: z.unknown(), 204: null },
    run: async () => ({}),
    ...more,
  });

const loose = z.looseObject({ name: z.string() });
const operations: readonly Operation[] = [
  thing('list', 'GET', '', { run: async () => ({ answer: [] }) }),
  thing('add', 'POST', '', {
    permission: ['configuration:ca:manage'],
    body: loose as unknown as z.ZodType<never>,
    run: async ({ body }) => ({ status: 201, answer: { received: body } }),
  }),
  thing('get', 'GET', '/:id', { match: { id: 'id' }, run: async ({ params }) => ({ answer: params }) }),
  thing('remove', 'DELETE', '/:id', { match: { id: 'id' } }),
  thing('run', 'POST', '/run', {}),
  thing('csv', 'GET', '/csv', { run: async () => ({ answer: 'a;b', mediaType: 'text/csv' }) }),
  thing('pem', 'GET', '/pem/:pem', { match: { pem: 'rest' }, run: async ({ params }) => ({ answer: params }) }),
  thing('who', 'GET', '/who', { run: async (_, { caller, principal }) => ({ answer: { ...caller, is: principal.identifier } }) }),
  thing('query', 'GET', '/query', { query: z.object({ n: z.coerce.number() }), run: async ({ query }) => ({ answer: query }) }),
  thing('fail', 'GET', '/fail', { run: () => Promise.reject(new Error(canary, { cause: new TypeError(`${canary} deeper`) })) }),
  thing('outage', 'GET', '/outage', { run: () => Promise.reject(Object.assign(new Error(canary), { code: 'database-unavailable' })) }),
  thing('events', 'GET', '/events', { capabilities: ['events'], run: async () => ({ answer: [] }) }),
];

const closed = Object.fromEntries(capabilities.map((name) => [name, false])) as Omit<Endpoint, 'host'>;
const open = Object.fromEntries(capabilities.map((name) => [name, true])) as Omit<Endpoint, 'host'>;
const hosts = createHosts({
  allowedHosts: [],
  publicUrl: 'http://localhost',
  endpoints: [
    { ...open, host: 'localhost' },
    { ...closed, host: 'events.test', events: true },
    { ...closed, host: 'acme.test', acme: true },
  ],
});

export interface Call {
  readonly method?: string;
  readonly url: string;
  /** `host: localhost` unless another is given. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string | Uint8Array;
}
export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  json(): unknown;
}

export interface Listener {
  call(call: Call): Promise<Answered>;
  /** The lines of the log so far. */
  readonly logged: string[];
  /** Sends bytes, then the end unless `open`; answers what came back until the connection closed. */
  raw(bytes: string | Uint8Array, more?: { readonly open?: true }): Promise<string>;
  close(): Promise<void>;
}

/** Callers are `ada`, who may everything, and `bob`, who may nothing; both with the key `secret`. `failing` replaces knowing them. */
export async function startListener(
  options: Partial<ServerOptions> & { readonly failing?: () => Error | undefined } = {},
): Promise<Listener> {
  const { failing, ...more } = options;
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk, _, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const log = pino({ level: 'debug' }, sink);
  const performer = createPerformer(async () => {}, {
    append: () => Promise.reject(new Error('nothing is audited')) as never,
    admits: () => false,
  });
  const contextOf = (caller: Context['caller']): Context =>
    ({ log, caller, principal: nobody, renewed: async () => contextOf(caller) }) as unknown as Context;
  const server = createServer(
    {
      operations,
      performer,
      hosts,
      context: async (caller) => contextOf(caller),
      async authenticate({ apiId, apiKey }) {
        const failure = failing?.();
        if (failure) throw failure;
        if (apiId === undefined) return nobody;
        if (apiKey !== 'secret') throw authErrors.credentials();
        return principalWith(apiId === 'ada' ? ['configuration:*'] : [], apiId);
      },
    },
    { bodyBytes: 1_000, trustedProxies: [], log, observe: () => {}, ...more },
  );
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  return {
    call: (call) => send(port, call),
    logged,
    raw: (bytes, how) => exchange(port, bytes, how?.open ?? false),
    close: () => server.close(),
  };
}

async function send(port: number, { method = 'GET', url, headers = {}, payload }: Call): Promise<Answered> {
  const length = payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) };
  const asked = request({ host: '127.0.0.1', port, method, path: url, headers: { host: 'localhost', ...length, ...headers } });
  if (payload === undefined) asked.end();
  else asked.end(payload);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await (answer.toArray() as Promise<Buffer[]>)).toString();
  return { status: answer.statusCode!, headers: answer.headers, body, json: () => JSON.parse(body) };
}

async function exchange(port: number, bytes: string | Uint8Array, open: boolean): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A listener that has said what it had to say may reset what still comes.
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  if (open) socket.write(bytes);
  else socket.end(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}
