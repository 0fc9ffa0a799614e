/** The service of the commit benchmark: one action of two commits, an event each, and one that writes nothing. Told by IPC which database. */
import { createServer } from 'node:http';
import pino from 'pino';
import { createServer as createService } from '../../src/http/server.ts';
import { type Action, operation, step } from '../../src/kernel/action.ts';
import { defineTable, insert, update } from '../../src/kernel/change.ts';
import { type Context, newId, systemSources } from '../../src/kernel/context.ts';
import { routeErrors } from '../../src/kernel/errors.ts';
import { pendingEventTable } from '../../src/kernel/event.ts';
import { createPerformer, type Trail } from '../../src/kernel/perform.ts';
import { nobody } from '../../src/kernel/principal.ts';
import { createCommitter } from '../../src/storage/commit.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createDocuments } from '../../src/storage/documents.ts';

const [url, lanes, unitsMax] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])];
const database = openDatabase({ url, poolSize: 2, lanes });
const documents = createDocuments(database);

const orders = defineTable('bench_order', { id: 'text', state: 'text', tbs: 'bytea' }, ['id']);
const results = defineTable('bench_result', { id: 'text', body: 'bytea', labels: 'jsonb' }, ['id']);
const bytes = Buffer.alloc(700, 7);
const common = {
  class: 'open',
  permission: 'public',
  invalid: routeErrors.unknown,
  unexpected: routeErrors.unavailable,
  errors: [],
} as const;

const outcome: Action<string> = {
  ...common,
  id: 'bench.outcome',
  audit: { code: 'LIFECYCLE-ENROLL', module: 'webra' },
  run: async ({ body: id }) => ({
    status: 201,
    answer: { id },
    changes: [
      update(orders, { id }, { state: 'completed' }, { state: 'approved' }),
      insert(results, { id, body: bytes, labels: { team: 'edge' } }),
    ],
    details: { requestId: id },
  }),
};
const order = operation({
  ...common,
  id: 'bench.order',
  tag: 'bench',
  method: 'POST',
  path: '/bench/order',
  capabilities: ['webra'],
  answers: { 201: null },
  audit: { code: 'REQUEST-SUBMIT', module: 'webra' },
  async run(_, context) {
    const id = context.newId();
    return { changes: [insert(orders, { id, state: 'approved', tbs: bytes })], details: { requestId: id }, next: step(outcome, id) };
  },
});

const trail: Trail = {
  admits: () => true,
  append: ({ code, module, status, details }, context) =>
    insert(pendingEventTable, { id: context.newId(), code, module, status, node: context.node, at: context.now(), details, mac: '' }),
};
const log = pino({ level: 'warn' });
async function context(): Promise<Context> {
  const call = {
    ...systemSources,
    principal: nobody,
    configuration: await documents.current(),
    database,
    vault: undefined as never,
    log,
    node: 'bench',
    publicUrl: '',
    queryDepthMax: 5,
    caller: {},
    newId: () => newId(systemSources),
  };
  return { ...call, renewed: context };
}
const service = createService(
  {
    operations: [order],
    performer: createPerformer(createCommitter(database.writers, { lanes, unitsMax }), trail),
    hosts: () => new Set(['webra']),
    context,
    authenticate: async () => nobody,
  },
  { bodyBytes: 1 << 20, trustedProxies: [], log, observe: () => {} },
);
await service.listen({ port: 0, host: '127.0.0.1' });
/** Bare HTTP: reads the body, answers as many bytes. */
const bare = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(201, { 'content-length': 33 }).end('{"id":"000000000000000000000000"}'));
});
await new Promise<void>((resolve) => void bare.listen(0, '127.0.0.1', resolve));
process.send!({ port: (service.server.address() as { port: number }).port, barePort: (bare.address() as { port: number }).port });
