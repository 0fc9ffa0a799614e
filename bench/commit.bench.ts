/** The commit path alone: an action of two commits (intent, outcome; an event each) over HTTP, beside bare HTTP and `pgbench`. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../src/storage/embedded.ts';
import { migrate } from '../src/storage/migrate.ts';
import { pgbenchCommits } from './support/limits.ts';
import { httpRequest, load } from './support/load.ts';

const connections = 64;
const [lanes, unitsMax] = [process.argv[3] ?? '2', process.argv[4] ?? '32'];

export async function run(): Promise<object> {
  const directory = mkdtempSync(join(tmpdir(), 'perennial-bench-'));
  const server = await startEmbedded({ directory, log: () => {}, random: randomBytes, settings: { max_connections: '120' } });
  const client = new pg.Client(server.url);
  await client.connect();
  await migrate(client);
  await client.query(`
    create table bench_order (id text collate "C" primary key, state text not null, tbs bytea not null);
    create table bench_result (id text collate "C" primary key, body bytea not null, labels jsonb not null);
    create table bench_row (id bigint generated always as identity primary key, body text not null)`);
  const service = fork(join(import.meta.dirname, 'support/commit-service.ts'), [server.url, lanes, unitsMax]);
  try {
    const [{ port, barePort }] = (await once(service, 'message')) as [{ port: number; barePort: number }];
    const common = { connections, warmUpSeconds: 3, seconds: 10, status: 201 };
    const bare = await load({ ...common, port: barePort, request: () => httpRequest('POST', '/bench/order', {}, '{"a":1}') });
    const figure = await load({ ...common, port, request: () => httpRequest('POST', '/bench/order', {}, '{"a":1}') });
    const { rows } = await client.query(
      'select (select count(*)::int from bench_result) results, (select count(*)::int from event_pending) events',
    );
    const wrong = rows[0].results !== figure.total || rows[0].events !== 2 * figure.total;
    if (wrong) throw new Error(`${figure.total} answers, but ${JSON.stringify(rows[0])}`);
    const pgbench = pgbenchCommits(server.url, connections, 8);
    return {
      figure: figure.perSecond,
      unit: 'actions of two commits per second',
      p50_ms: figure.p50Ms,
      p99_ms: figure.p99Ms,
      limits: { bareHttpPerSecond: bare.perSecond, pgbenchCommitsPerSecond: pgbench },
      ratios: { ofBareHttp: round(figure.perSecond / bare.perSecond), ofPgbench: round(figure.perSecond / pgbench) },
    };
  } finally {
    service.kill('SIGKILL');
    await client.end();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

const round = (ratio: number): number => Math.round(ratio * 1000) / 1000;
