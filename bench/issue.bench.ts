/** Durable, audited issuance through the REST API: one submit with a direct right, a CSR in, a P-256 authority, the whole program with its defaults;
 *  beside bare HTTP, P-256 signatures and `pgbench` single-row commits of the same run. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { administratorSecret, startService } from '../test/support/service.ts';
import { makeCsrs } from './support/csr.ts';
import { p256Signatures, pgbenchCommits } from './support/limits.ts';
import { httpRequest, load } from './support/load.ts';

const connections = 64;

export async function run(): Promise<object> {
  const headers = { 'x-api-id': 'administrator', 'x-api-key': administratorSecret };
  const requests = makeCsrs(2_000).map((csr) =>
    httpRequest(
      'POST',
      '/api/v1/requests/submit',
      headers,
      JSON.stringify({ module: 'webra', workflow: 'enroll', profile: 'lab', template: { csr } }),
    ),
  );
  const request = (i: number) => requests[i % requests.length]!;
  const service = await startService({ settings: { PERENNIAL_LOG_LEVEL: 'info' } });
  const client = new pg.Client(service.databaseUrl);
  await client.connect();
  try {
    const common = { connections, warmUpSeconds: 5, seconds: 15, status: 201, request };
    const bare = await bareHttp((port) => load({ ...common, warmUpSeconds: 1, seconds: 3, port }));
    const count = async () => {
      const { rows } =
        await client.query(`select (select count(*)::int from certificate) certificates, (select count(distinct serial)::int from certificate) serials,
        (select count(*)::int from request where status = 'completed') requests, (select count(*)::int from event_all where code = 'LIFECYCLE-ENROLL') enrolled,
        (select count(*)::int from event_all where code = 'REQUEST-SUBMIT') submitted`);
      return JSON.stringify(Object.values(rows[0]));
    };
    const figure = await load({ ...common, port: Number(new URL(service.url).port) });
    if ((await count()) !== JSON.stringify(Array(5).fill(figure.total))) throw new Error(`${figure.total} answers, but ${await count()}`);
    await client.query('create table bench_row (id bigint generated always as identity primary key, body text not null)');
    const limits = {
      bareHttpPerSecond: bare.perSecond,
      p256SignaturesPerSecond: p256Signatures(),
      pgbenchCommitsPerSecond: pgbenchCommits(service.databaseUrl, 48, 8),
    };
    const ratio = (limit: number) => Math.round((figure.perSecond / limit) * 1000) / 1000;
    return {
      figure: figure.perSecond,
      unit: 'certificates per second',
      p50_ms: figure.p50Ms,
      p99_ms: figure.p99Ms,
      limits,
      ratios: {
        ofBareHttp: ratio(limits.bareHttpPerSecond),
        ofP256Signatures: ratio(limits.p256SignaturesPerSecond),
        ofPgbench: ratio(limits.pgbenchCommitsPerSecond),
      },
    };
  } finally {
    await client.end();
    await service.stop();
  }
}

/** A server in this process that reads the body and answers as many bytes as an issuance has. */
async function bareHttp<T>(measure: (port: number) => Promise<T>): Promise<T> {
  const body = Buffer.alloc(2_800, 'x');
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.writeHead(201, { 'content-length': body.length }).end(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await measure((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}
