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
const manager = person('otto', 'configuration:system:event:manage');

const operationOf = (id: string): Operation => events.operations.find((one) => one.id === id)!;
const call = async (
  id: string,
  { body, params = {}, query = {} }: { body?: unknown; params?: Record<string, string>; query?: Record<string, string> } = {},
  principal = auditor,
) => performer.perform(operationOf(id), { params, query, body }, await bench.as(principal));
const work = async (name: string) => events.jobs.find((job) => job.name === name)!.run(await bench.as(), performer);

/** The answer, which must be what the operation says it is, no more and no less. */
function operationAnswer(id: string, answer: unknown): unknown {
  const schema = operationOf(id).answers[200] as z.ZodType;
  assert.deepEqual(schema.parse(answer), answer);
  return answer;
}
const errorOf = ({ status, body }: Reply) => `${status} ${(body as { error: string }).error}`;

async function fill(): Promise<void> {
  for (let i = 0; i < 20; i++)
    await performer.note({ code: 'CONF-ADD', module: 'configuration', status: 'success', details: {} }, await bench.as());
}

interface Report {
  readonly _id: string;
  readonly status: string;
  readonly from?: string;
  readonly to?: string;
  readonly eventId?: string;
  readonly reason?: string;
  readonly startedAt: number;
  readonly endedAt?: number;
}
const reports = async (): Promise<readonly Report[]> =>
  operationAnswer('event.integrity.list', (await call('event.integrity.list')).body) as Report[];

test('a check is asked for, carried out once, and reported', async () => {
  assert.equal((await call('event.integrity.list')).status, 204);
  await fill();
  await work('event.seal');
  assert.equal((await call('event.integrity.run', {}, manager)).status, 204);
  assert.equal((await call('event.integrity.run', {}, manager)).status, 204);
  assert.deepEqual(
    (await reports()).map(({ status }) => status),
    ['running'],
  );
  bench.clock.move(5);
  await Promise.all([work('event.integrity'), work('event.integrity')]);
  const [report] = await reports();
  assert.equal(report?.status, 'verified');
  assert.equal(report.endedAt, report.startedAt + 5);
  assert.match(`${report.from} ${report.to}`, /^[0-9a-f]{24} [0-9a-f]{24}$/);
  const { body: found } = await call('event.search', { body: { query: 'detail.scheduledTaskName equals "event.integrity"' } });
  const told = (found as { results: readonly { code: string; status: string }[] }).results;
  assert.deepEqual(told.map(({ code, status }) => `${code} ${status}`).toSorted(), [
    'SCHEDULED-TASK-COMPLETE success',
    'SCHEDULED-TASK-RUN success',
    'SCHEDULED-TASK-RUN success',
  ]);
});

test('a report names the bad record; one that was altered is no report', async () => {
  await fill();
  await work('event.seal');
  const { rows } = await bench.database.writers.query(
    `update event set details = details || '{"message": "nothing"}' where number = 17 returning id`,
  );
  await call('event.integrity.run', {}, manager);
  await work('event.integrity');
  const [failed] = await reports();
  assert.deepEqual([failed?.status, failed?.eventId, failed?.reason], ['eventIntegrityFailure', rows[0].id, 'event 17 was altered']);
  bench.clock.move(1_000);
  await call('event.integrity.run', { query: { startFrom: failed!.to! } }, manager);
  for (const damage of [`status = 'verified'`, `body = body - 'reason'`, `body = body || '{"more": 1}'`, `body = 'null'`]) {
    await bench.database.writers.query(`update integrity_report set ${damage} where id = $1`, [failed!._id]);
    await work('event.integrity');
    const [later, altered] = await reports();
    assert.deepEqual([later?.from, altered?.status], [failed?.to, 'reportIntegrityFailure']);
  }
});

test('a check that cannot be asked for', async () => {
  const run = (startFrom: string, principal = manager) => call('event.integrity.run', { query: { startFrom } }, principal);
  assert.equal(errorOf(await run('x')), '400 EVT-004');
  assert.equal(errorOf(await run('f'.repeat(24))), '404 EVT-003');
  assert.equal(errorOf(await run('f'.repeat(24), auditor)), '403 SEC-PERM-001');
});

test('a check whose lease is lost is left to whoever has it, and the log says so', async () => {
  await fill();
  await call('event.integrity.run', {}, manager);
  const [asked] = await reports();
  const lines: object[] = [];
  const log = { info: (fields: object) => lines.push(fields), warn: () => assert.fail(), error: () => assert.fail() };
  const losing = eventModule({
    sealSecret,
    commit: async (changes) => {
      await bench.database.writers.query('update integrity_report set lease_until = lease_until + 1');
      await bench.commit(changes);
    },
  });
  await losing.jobs.find(({ name }) => name === 'event.integrity')!.run({ ...(await bench.as()), log }, performer);
  assert.equal((await reports())[0]?.status, 'running');
  assert.deepEqual(
    lines.map((fields) => ({ ...fields, err: '' })),
    [{ err: '', report: asked?._id }],
  );
  await work('event.integrity');
  assert.equal((await reports())[0]?.status, 'verified');
});

test('a check that breaks says so, and one whose process died is begun again', async () => {
  await fill();
  await work('event.seal');
  await call('event.integrity.run', {}, manager);
  await bench.database.writers.query('update integrity_report set lease_until = $1', [bench.clock.now() + 60_000]);
  await work('event.integrity');
  assert.equal((await reports())[0]?.status, 'running');
  bench.clock.move(60_000);
  await bench.database.writers.query('alter table event rename column seal to lost');
  await work('event.integrity');
  await bench.database.writers.query('alter table event rename column lost to seal');
  assert.equal((await reports())[0]?.status, 'unexpectedFailure');
});
