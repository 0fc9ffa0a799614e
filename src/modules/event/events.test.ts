import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import type { z } from 'zod';
import { type Bench, openBench, principalWith } from '../../../test/support/context.ts';
import type { Operation, Reply } from '../../kernel/action.ts';
import { createPerformer } from '../../kernel/perform.ts';
import { type EventModule, eventModule } from './index.ts';

let bench: Bench;
let events: EventModule;
let performer: ReturnType<typeof createPerformer>;
const sealSecret = randomBytes(32);

before(async () => {
  bench = await openBench();
});
after(() => bench.close());
beforeEach(async () => {
  await bench.database.writers.query('truncate event, event_pending, event_head, integrity_report');
  events = eventModule({ sealSecret, commit: bench.commit });
  performer = createPerformer(bench.commit, events.trail);
});

const person = (identifier: string, ...permissions: readonly string[]) => principalWith(permissions, identifier);
const auditor = person('ada', 'configuration:system:event:audit');

const operationOf = (id: string): Operation => events.operations.find((one) => one.id === id)!;
const call = async (
  id: string,
  { body, params = {}, query = {} }: { body?: unknown; params?: Record<string, string>; query?: Record<string, string> } = {},
  principal = auditor,
) => performer.perform(operationOf(id), { params, query, body }, await bench.as(principal));
const work = async (name: string) => events.jobs.find((job) => job.name === name)!.run(await bench.as(), performer);

interface Event {
  readonly _id: string;
  readonly code: string;
  readonly timestamp: number;
  readonly status: string;
  readonly details: readonly { readonly key: string; readonly value: string }[];
  readonly seal?: string;
}
interface Page {
  readonly results: readonly Event[];
  readonly count?: number;
  readonly hasMore: boolean;
}
async function search(body: object = {}): Promise<Page> {
  const { status, body: answer } = await call('event.search', { body });
  assert.equal(status, 200, JSON.stringify(answer));
  return operationAnswer('event.search', answer) as Page;
}
/** The answer, which must be what the operation says it is, no more and no less. */
function operationAnswer(id: string, answer: unknown): unknown {
  const schema = operationOf(id).answers[200] as z.ZodType;
  assert.deepEqual(schema.parse(answer), answer);
  return answer;
}
const detail = ({ details }: Event, key: string) => details.find((one) => one.key === key)?.value;
const errorOf = ({ status, body }: Reply) => `${status} ${(body as { error: string }).error}`;

const day = 86_400_000;
/** Eleven days with six events each; the last two days are not sealed yet. */
async function fill(): Promise<void> {
  for (let i = 0; i < 66; i++) {
    if (i > 0) bench.clock.move(i % 6 ? 1 : day - 5);
    if (i === 54) await work('event.seal');
    const details = { certificateProfile: i % 2 ? 'web' : 'mail', message: `number ${i}` };
    const code = i % 3 ? 'LIFECYCLE-ENROLL' : 'LIFECYCLE-REVOKE';
    const by = await bench.as(person(`user ${i % 4}`));
    await performer.note({ code, module: 'request', status: i % 5 ? 'success' : 'warning', details }, by);
  }
}

test('all events, the newest first, sealed ones with their seal', async () => {
  await fill();
  const { results, hasMore, count } = await search({ pageSize: 100, withCount: true });
  assert.equal(results.length, 66);
  assert.deepEqual([hasMore, count], [false, 66]);
  const times = results.map(({ timestamp }) => timestamp);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => b - a),
  );
  assert.equal(results.filter(({ seal }) => seal !== undefined).length, 54);
  assert.equal(detail(results[0]!, 'actorId'), 'user 1');
});

test('pages follow each other without gap or overlap', async () => {
  await fill();
  for (const sortedBy of [
    undefined,
    [{ element: 'code', order: 'Asc' }],
    [
      { element: 'status', order: 'Desc' },
      { element: 'timestamp', order: 'Asc' },
    ],
    [{ element: 'removeAt', order: 'Asc' }],
  ]) {
    const ids: string[] = [];
    for (let pageIndex = 1; ; pageIndex++) {
      const { results, hasMore } = await search({ sortedBy, pageIndex, pageSize: 20 });
      ids.push(...results.map(({ _id }) => _id));
      if (!hasMore) break;
    }
    assert.equal(ids.length, 66);
    assert.equal(new Set(ids).size, 66);
  }
});

test('queries by code, time, actor and detail', async () => {
  await fill();
  const dayBefore = (days: number) => new Date(bench.clock.now() - days * day).toISOString().slice(0, 10);
  const queries: readonly (readonly [query: string, count: number])[] = [
    ['code equals "LIFECYCLE-REVOKE"', 22],
    ['code equals "NO-SUCH-CODE"', 0],
    ['timestamp after today', 6],
    ['timestamp before -9d', 11],
    [`timestamp after "${dayBefore(5)}" and timestamp before "${dayBefore(4)}"`, 6],
    ['detail.certificateProfile equals "web" and status equals "warning"', 7],
    ['detail.actorId in ["user 1", "user 2"]', 33],
    ['detail.message matches "^number 6[0-5]$" and module equals "request" and node equals "test"', 6],
    ['detail.certificateDn exists or purge.date exists', 0],
  ];
  for (const [query, count] of queries) assert.equal((await search({ query, withCount: true })).count, count, query);
  const [first] = (await search({ pageSize: 1 })).results;
  assert.deepEqual((await search({ query: `id equals "${first!._id}"` })).results, [first]);
});

test('what cannot be asked is refused', async () => {
  const refusals: readonly (readonly [body: unknown, error: string])[] = [
    [{ query: 'code = ' }, '400 HQL-001'],
    [{ query: 'detail.password exists' }, '400 HQL-001'],
    [{ query: 'detail.constructor exists' }, '400 HQL-001'],
    [{ query: 'number equals 1' }, '400 HQL-001'],
    [{ sortedBy: [{ element: 'details', order: 'Asc' }] }, '400 EVT-002'],
    [
      {
        sortedBy: [
          { element: 'code', order: 'Asc' },
          { element: 'code', order: 'Desc' },
        ],
      },
      '400 EVT-002',
    ],
    [{ pageSize: 0 }, '400 EVT-002'],
    ['x', '400 EVT-002'],
  ];
  for (const [body, error] of refusals) assert.equal(errorOf(await call('event.search', { body })), error, JSON.stringify(body));
  assert.equal(errorOf(await call('event.search', { body: {} }, person('rita'))), '403 SEC-PERM-001');
  const nested = { params: {}, query: {}, body: { query: '((code equals "A"))' } };
  for (const [queryDepthMax, status] of [
    [1, 400],
    [2, 200],
  ] as const) {
    const context = { ...(await bench.as(auditor)), queryDepthMax };
    assert.equal((await performer.perform(operationOf('event.search'), nested, context)).status, status, String(queryDepthMax));
  }
  assert.deepEqual((await search()).results, [], 'reading leaves no event');
});

test('one event by its id', async () => {
  await fill();
  for (const event of (await search({ pageSize: 100 })).results.slice(8, 16)) {
    const { body } = await call('event.get', { params: { id: event._id } });
    assert.deepEqual(operationAnswer('event.get', body), event);
  }
  assert.equal(errorOf(await call('event.get', { params: { id: 'f'.repeat(24) } })), '404 EVT-003');
});

test('pages and single events are found by index', async () => {
  await bench.database.writers.query(
    `insert into event select n, lpad(to_hex(n), 24, '0'), 'CONF-' || n % 50, 'm', 'n', 's', n, jsonb_build_object('requestId', n), '' from generate_series(1, 20000) n`,
  );
  await bench.database.writers.query('analyze event');
  const asked: string[] = [];
  const reader = { rows: (statement: { text: string; values?: readonly unknown[] }) => plan(statement) };
  const plan = async ({ text, values = [] }: { text: string; values?: readonly unknown[] }): Promise<never[]> => {
    const rows = await bench.database.rows<Record<'QUERY PLAN', string>>({ text: `explain ${text}`, values });
    asked.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return [];
  };
  const context = { ...(await bench.as(auditor)), database: reader };
  const { body } = operationOf('event.search');
  for (const query of [
    undefined,
    'code equals "CONF-7"',
    'detail.requestId equals "7"',
    'id equals "7"',
    'timestamp before "1970-01-02"',
  ]) {
    const parsed = body?.parse({ query });
    await operationOf('event.search').run({ params: {}, query: {}, body: parsed as never }, context);
  }
  assert.equal(asked.length, 5);
  for (const text of asked) assert.doesNotMatch(text, /Seq Scan on event\b/);
});
