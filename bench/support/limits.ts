/** What this machine can do at all, measured in the same run: the limits that a figure is divided by. */
import { spawnSync } from 'node:child_process';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Single-row commits per second with as many clients, by `pgbench` (Debian: postgresql-contrib). */
export function pgbenchCommits(url: string, clients: number, seconds: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'perennial-pgbench-'));
  try {
    const script = join(folder, 'insert.sql');
    writeFileSync(script, "insert into bench_row (body) values ('one row');\n");
    const { stdout, stderr, error, status } = spawnSync(
      'pgbench',
      ['-n', '-M', 'prepared', '-c', String(clients), '-j', '1', '-T', String(seconds), '-f', script, url],
      { encoding: 'utf8', timeout: (seconds + 30) * 1000 },
    );
    if (error || status !== 0)
      throw new Error(`pgbench is needed (Debian: apt-get install postgresql-contrib): ${error?.message ?? stderr}`);
    return Math.round(Number(/tps = ([\d.]+)/.exec(stdout)?.[1]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** P-256 signatures per second on one core. */
export function p256Signatures(): number {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const data = Buffer.alloc(800, 1);
  const end = performance.now() + 1000;
  let count = 0;
  for (; performance.now() < end; count += 1) createSign('sha256').update(data).sign(privateKey);
  return count;
}
