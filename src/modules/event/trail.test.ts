import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { z } from 'zod';
import { type Bench, openBench, principalWith } from '../../../test/support/context.ts';
import type { Action, Operation, Reply } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { defineErrors } from '../../kernel/errors.ts';
import { createPerformer } from '../../kernel/perform.ts';
import { nobody, type Principal } from '../../kernel/principal.ts';
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
const manager = person('otto', 'configuration:system:event:manage');

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

const errors = defineErrors('TEST-EVENT', { invalid: ['002', 400, 'Invalid'], internal: ['001', 500, 'Unexpected'] });
const guarded: Action<{ secret: string; fail?: 'bug' | undefined }> = {
  id: 'test.guarded',
  permission: ['configuration:ca:manage'],
  class: 'configuration',
  audit: { code: 'CONF-ADD', module: 'configuration' },
  body: z.object({ secret: z.string(), fail: z.enum(['bug']).optional() }),
  invalid: errors.invalid,
  unexpected: errors.internal,
  errors: [errors.invalid, errors.internal],
  async run({ body }) {
    if (body.fail) throw new Error(`a bug near ${body.secret}`);
    return { answer: { secret: body.secret }, details: { name: 'lab' } };
  },
};
const attempt = async (
  principal: Principal,
  body: unknown = { secret: 'x' },
  caller: Context['caller'] = { ip: '192.0.2.1', verb: 'POST', path: '/api/v1/cas' },
) => performer.perform(guarded, { params: {}, query: {}, body }, { ...(await bench.as(principal)), caller });

test('refusals past thirty a minute are counted, and told with the next', async () => {
  for (let i = 0; i < 50; i++) assert.equal(errorOf(await attempt(person('mallory'))), '403 SEC-PERM-001');
  await attempt(person('rita'));
  const refused = async (who: string) => (await search({ query: `detail.actorId equals "${who}"`, pageSize: 100 })).results;
  assert.equal((await refused('mallory')).length, 30);
  assert.equal((await refused('rita')).length, 1);
  bench.clock.move(60_000);
  await attempt(person('mallory'));
  const [newest, ...older] = await refused('mallory');
  assert.equal(older.length, 30);
  assert.match(detail(newest!, 'message')!, /Insufficient privileges.*; 20 more like this were not recorded one by one$/);
  assert.deepEqual(
    ['ip', 'httpVerb', 'httpPath', 'actorType'].map((key) => detail(newest!, key)),
    ['192.0.2.1', 'POST', '/api/v1/cas', 'Local'],
  );
});

test('refusals of nobody are counted by address, and the rest is told when nothing follows', async () => {
  for (let i = 0; i < 40; i++) await attempt(nobody);
  for (let i = 0; i < 31; i++) await attempt(nobody, undefined, { ip: '192.0.2.2' });
  bench.clock.move(60_000);
  await work('event.refusals');
  await work('event.refusals');
  const { results } = await search({ pageSize: 100 });
  assert.equal(results.length, 62);
  const told = results
    .filter(({ timestamp }) => timestamp === bench.clock.now())
    .map((event) => [detail(event, 'ip'), /; (\d+) more/.exec(detail(event, 'message')!)?.[1]]);
  assert.deepEqual(told.toSorted(), [
    ['192.0.2.1', '10'],
    ['192.0.2.2', '1'],
  ]);
});

test('nothing of a request, of the secret or of a mark reaches an event, an answer or a report', async () => {
  const canary = 'canary-7f3a';
  const admin = person('root', 'configuration:*');
  await attempt(admin, { secret: canary });
  await attempt(admin, { secret: canary, fail: 'bug' });
  await attempt(admin, { secret: canary, fail: canary });
  await attempt(admin, { secret: [canary] });
  await attempt(nobody, { secret: canary });
  const answers = [await search()];
  await work('event.seal');
  await call('event.integrity.run', {}, manager);
  await work('event.integrity');
  const { rows: marks } = await bench.database.writers.query('select mac from event_pending union all select mac from event_head');
  const tables = ['event', 'event_pending', 'event_head', 'integrity_report'].map((name) =>
    bench.database.writers.query(`select * from ${name}`),
  );
  const stored = JSON.stringify((await Promise.all(tables)).map(({ rows }) => rows));
  const shown = JSON.stringify([...answers, await search(), await call('event.integrity.list')]);
  assert.ok((await search()).results.length >= 6);
  for (const text of [stored, shown]) {
    for (const secret of [canary, sealSecret.toString('hex'), sealSecret.toString('base64')]) assert.ok(!text.includes(secret));
  }
  for (const { mac } of marks) assert.ok(!shown.includes(mac));
});
