import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { memoryFolder } from '../../test/support/database.ts';
import { type EmbeddedOptions, startEmbedded } from './embedded.ts';
import { installedFolder } from './embedded-binaries.ts';

const root = mkdtempSync(join(await memoryFolder(), 'perennial-embedded-'));
chmodSync(root, 0o777);
after(() => rmSync(root, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;

function start(directory: string, options: Partial<EmbeddedOptions> = {}) {
  return startEmbedded({ directory, log: () => {}, random: randomBytes, ...options });
}

async function query(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  return client.query(statement).finally(() => client.end().catch(() => {}));
}

function serverProcesses(directory: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(`${directory}/`);
    } catch {
      return false;
    }
  });
}

async function assertAllGone(directory: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < 2_000 && serverProcesses(directory).length > 0; waitedMs += 20) await setTimeout(20);
  assert.deepEqual(serverProcesses(directory), []);
}

/** A service that says how many rows it found, then commits one after another, each told when acknowledged. */
const committer = `
  import { randomBytes } from 'node:crypto';
  import pg from ${JSON.stringify(import.meta.resolve('pg'))};
  import { startEmbedded } from ${JSON.stringify(import.meta.resolve('./embedded.ts'))};
  const [directory, path] = process.argv.slice(1);
  const { url } = await startEmbedded({ directory, log: () => {}, random: randomBytes, ...(path && { path }) });
  const client = new pg.Client(url);
  await client.connect();
  await client.query('create table if not exists t (n bigint primary key)');
  let { n } = (await client.query('select coalesce(max(n), 0)::int n from t')).rows[0];
  for (process.stdout.write('found ' + n + '\\n'); ; n++) {
    await client.query('insert into t values ($1)', [n + 1]);
    process.stdout.write('acknowledged ' + (n + 1) + '\\n');
  }`;

async function runCommitter(
  args: readonly string[],
  prefix: readonly string[] = [],
): Promise<{ readonly found: number; readonly acknowledged: number }> {
  const [file = '', ...rest] = [...prefix, process.execPath, '--input-type=module', '--eval', committer, ...args];
  const child: ChildProcess = spawn(file, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let found = -1;
  let acknowledged = 0;
  for await (const line of createInterface({ input: child.stdout! })) {
    const [word, count] = line.split(' ');
    if (word === 'found') found = Number(count);
    else acknowledged = Number(count);
    if (acknowledged >= found + 50) child.kill('SIGKILL');
  }
  await exited;
  return { found, acknowledged };
}

async function assertSurvivesKill(args: readonly [string, string?], rounds: number, prefix: readonly string[] = []): Promise<void> {
  let last = 0;
  for (let round = 0; round < rounds; round++) {
    const { found, acknowledged } = await runCommitter(
      args.filter((arg) => arg !== undefined),
      prefix,
    );
    assert.ok(found >= last && acknowledged > found, `round ${round}: ${last} acknowledged, ${found} found, ${acknowledged} acknowledged`);
    last = acknowledged;
  }
  await assertAllGone(args[0]);
}

/** A service that starts, says how it went, and stays. */
function runStarter(directory: string): { readonly said: Promise<string>; readonly child: ChildProcess } {
  const script = `
    import { randomBytes } from 'node:crypto';
    import { startEmbedded } from ${JSON.stringify(import.meta.resolve('./embedded.ts'))};
    const starting = startEmbedded({ directory: process.argv[1], log: () => {}, random: randomBytes });
    console.log(await starting.then(() => 'started', (error) => error.message));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { said: once(child.stdout.setEncoding('utf8'), 'data').then(String), child };
}

describe('the embedded database', { concurrency: 3 }, () => {
  test('what was acknowledged survives kill -9 of the service, restarted at once; no process is left', async () => {
    await assertSurvivesKill([join(root, 'killed')], 3);
  });

  // Without root's rights every other test here is this one.
  if (isRoot)
    test('the same for a service that is not root', async () => {
      await assertSurvivesKill([join(root, 'plain')], 1, ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']);
      assert.equal(statSync(join(root, 'plain/postgres/data')).uid, 65534);
    });

  test('starts, refuses a second, survives kill -9 of the server, starts again', async () => {
    const directory = join(root, 'one');
    const data = join(directory, 'postgres/data');
    const first = await start(directory);
    assert.match(first.version, /^18\./);
    await query(first.url, 'create table t (n int); insert into t values (1)');
    await assert.rejects(start(directory), /is in use by another running service/);
    assert.equal(statSync(join(directory, 'postgres/password')).mode & 0o777, 0o600);
    assert.equal(statSync(data).mode & 0o777, 0o700);
    await assert.rejects(query(first.url.replace(/:[^:@]*@/, ':wrong@'), 'select 1'), { code: '28P01' });

    process.kill(Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10), 'SIGKILL');
    assert.equal(await first.ended, 'SIGKILL');
    await first.stop();
    const second = await start(directory);
    assert.equal((await query(second.url, 'select n from t')).rowCount, 1);
    await second.stop();
    await second.stop();
    assert.deepEqual(serverProcesses(directory), []);

    // a process number left behind that now belongs to somebody else, of the same user where possible
    writeFileSync(join(data, 'postmaster.pid'), `${process.pid}\n${data}\n1\n5432\n${directory}\n\n\nready\n`);
    const third = await start(directory);
    await third.stop();
    const misset = start(directory, { settings: { shared_buffers: 'much' } });
    await assert.rejects(misset, /PostgreSQL did not start in .*: .*FATAL: .*shared_buffers/);
    rmSync(join(directory, 'postgres/password'));
    await assert.rejects(start(directory), /password .* cannot be read: restore/);
  });

  test('of two first starts at once one is refused', async () => {
    const starters = [1, 2].map(() => runStarter(join(root, 'race')));
    const said = await Promise.all(starters.map((starter) => starter.said));
    for (const { child } of starters) child.kill('SIGKILL');
    assert.deepEqual(said.map((text) => /in use by another running service/.exec(text)?.[0] ?? text.trim()).sort(), [
      'in use by another running service',
      'started',
    ]);
    await assertAllGone(join(root, 'race'));
  });

  test('a long path, below a folder that only its owner may enter', async () => {
    const closed = join(root, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const directory = join(closed, 'long'.repeat(25));
    const told: string[] = [];
    const { url, stop } = await start(directory, { log: (line) => told.push(line) });
    assert.equal((await query(url, 'select 1')).rowCount, 1);
    const socket = decodeURIComponent(/host=([^&]*)/.exec(url)?.[1] ?? '');
    assert.ok(told.some((line) => line.includes(socket)));
    assert.equal(statSync(socket).mode & 0o777, 0o700);
    await stop();
    assert.equal(existsSync(socket), false);
  });

  test('links that were not installed are made; without setpriv a watchdog ends the server', async () => {
    const native = mkdtempSync(join(tmpdir(), 'perennial-native-')); // memory may be mounted without the right to execute
    after(() => rmSync(native, { recursive: true }));
    chmodSync(native, 0o755);
    cpSync(installedFolder(), native, {
      recursive: true,
      filter: (source) => !lstatSync(source).isSymbolicLink() && !source.endsWith('.a'),
    });
    const directory = join(root, 'linked');
    const first = await start(directory, { binaries: native });
    await first.stop();
    assert.ok(lstatSync(join(native, 'lib/libpq.so.5')).isSymbolicLink());

    const path = join(root, 'bin');
    mkdirSync(path);
    symlinkSync('/bin/sh', join(path, 'sh'));
    await assertSurvivesKill([directory, path], 2);
  });

  test('says what to do when it cannot start', async () => {
    const directory = join(root, 'broken');
    const file = join(root, 'file');
    writeFileSync(file, '');
    await assert.rejects(start(join(file, 'below')), /The service cannot use the folder .*: ENOTDIR/);
    await assert.rejects(start(directory, { path: '/nonexistent' }), /No account can run PostgreSQL in .*: move the folder/);
    assert.deepEqual(readdirSync(directory), []);
  });
});
