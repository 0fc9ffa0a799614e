/** `kill -9` in the middle of a load: what the service answered is there, what it had begun is finished, the trail is whole. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, it } from 'node:test';
import { at, type Client } from '../support/client.ts';
import { makeCsr, openDesk } from '../support/openssl.ts';
import { administratorSecret, databaseProcesses, newFolder, type RunningService, startService } from '../support/service.ts';
import { integrity, is, sql } from '../support/story.ts';
import { until } from '../support/until.ts';

const desk = openDesk();
const directory = await newFolder();
let service: RunningService;
const administrator = (): Client => service.client('administrator', administratorSecret);
after(async () => {
  await service?.stop();
  rmSync(directory, { recursive: true, force: true });
  desk.close();
});

it('a kill loses nothing that was acknowledged, and what was under way is finished', async () => {
  const csr = makeCsr(desk, '/CN=load.example.test');
  service = await startService({ directory });
  const acknowledged: string[] = [];
  let unfinished: Record<string, unknown>[] = [];
  // The moment between decision and outcome is short: it may take more than one kill to meet it.
  for (let kills = 0; kills < 5 && unfinished.length === 0; kills++) {
    const enough = acknowledged.length + 100;
    const load = Array.from({ length: 32 }, async () => {
      for (const client = administrator(); ; ) {
        const answer = await client.call('POST', '/api/v1/requests/submit', { profile: 'lab', template: { csr } }).catch(() => undefined);
        if (answer === undefined) return;
        acknowledged.push(String(at(is(201, answer), '_id')));
      }
    });
    await until(async () => acknowledged.length >= enough);
    await service.stop('SIGKILL');
    await Promise.all(load);
    await until(async () => databaseProcesses(directory).length === 0);
    service = await startService({ directory });
    unfinished = await sql(service.databaseUrl, `select id from request where status = 'approved'`);
  }

  const admin = administrator();
  const enrolled = async () =>
    (
      await sql(
        service.databaseUrl,
        `select details->>'requestId' as id from (select code, status, details from event union all select code, status, details from event_pending) all_events
         where code = 'LIFECYCLE-ENROLL' and status = 'success'`,
      )
    ).map(({ id }) => id);
  const told = new Set(await enrolled());
  assert.deepEqual(
    acknowledged.filter((id) => !told.has(id)),
    [],
    'each has its event',
  );
  const stored = await sql(
    service.databaseUrl,
    `select request.id from request join certificate on certificate.id = request.certificate_id where request.status = 'completed'`,
  );
  const completed = new Set(stored.map(({ id }) => id));
  assert.deepEqual(
    acknowledged.filter((id) => !completed.has(id)),
    [],
    'each has its certificate',
  );
  const last = is(200, await admin.call('GET', `/api/v1/requests/${acknowledged.at(-1)}`));
  assert.match(
    desk.run('x509', '-in', desk.file('load.pem', String(at(last, 'certificate.certificate'))), '-noout', '-subject'),
    /load\.example/,
  );

  // The reconciler takes up what is a minute old: here a minute is made to have passed.
  assert.ok(unfinished.length > 0, 'a kill met a request between its decision and its outcome');
  await sql(service.databaseUrl, `update request set last_modification_date = last_modification_date - 61000 where status = 'approved'`);
  await service.stop();
  service = await startService({ directory });
  const open = async () => (await sql(service.databaseUrl, `select id from request where status <> 'completed'`)).length;
  await until(async () => (await open()) === 0);
  const finished = await enrolled();
  for (const { id } of unfinished) assert.equal(finished.filter((each) => each === id).length, 1, 'finished, once');
  assert.equal(await integrity(administrator()), 'verified');
  await service.stop();
});
