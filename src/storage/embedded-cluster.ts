/**
 * The folder of the embedded database: made whole or not at all, and used by one PostgreSQL at a time.
 * `<directory>/postgres` holds `data`, the files of PostgreSQL, and `password`; it belongs to the account that PostgreSQL runs as.
 */

import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Account, candidates, commandAs, run } from './embedded-account.ts';
import type { Binaries } from './embedded-binaries.ts';
import { startError } from './embedded-errors.ts';

export interface ClusterOptions {
  readonly directory: string;
  readonly binaries: Binaries;
  readonly path: string;
  /** Becomes the password of the database user. */
  readonly password: string;
}

/** Makes `<directory>/postgres` under another name and renames it when it is complete and on the disk. */
export async function createCluster({ directory, binaries, path, password }: ClusterOptions): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  removeAbandoned(directory);
  const fresh = join(directory, `postgres.new-${process.pid}`);
  try {
    const account = await prepareFolder(fresh, binaries, path);
    const [data, passwordFile] = [join(fresh, 'data'), join(fresh, 'password')];
    writeFileSync(passwordFile, password, { mode: 0o600 });
    give(passwordFile, account);
    const step = async (argv: readonly string[], input?: string) => {
      const { ok, stderr } = await run(commandAs(account, path, argv), input);
      if (!ok) throw startError(`PostgreSQL could not make its folder in ${directory}`, stderr);
    };
    await step([binaries.initdb, '-D', data, `--pwfile=${passwordFile}`, ...initialSettings]);
    await step([binaries.postgres, '--single', '-D', data, 'template1'], 'create database perennial\n');
    await step([binaries.initdb, '--sync-only', '-D', data]);
    await syncFolder(fresh);
    claim(fresh, join(directory, 'postgres'));
    await syncFolder(directory);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Bytes sort as in the C locale; letters of all scripts have an upper and a lower case. */
const initialSettings = [
  '--username=perennial',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-sync',
  '--no-instructions',
];

/** An empty folder that one of the accounts can use, and that account. */
async function prepareFolder(folder: string, binaries: Binaries, path: string): Promise<Account> {
  // initdb wants a name for its user; the folder and the programs may lie below folders that the account may not enter
  const probe = ['sh', '-c', 'id -un && test -w "$0" && exec "$1" --version', folder, binaries.postgres];
  const reasons: string[] = [];
  for (const account of candidates()) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o700 });
    if (!give(folder, account)) continue;
    const { ok, stderr } = await run(commandAs(account, path, probe));
    if (ok) return account;
    reasons.push(stderr.trim());
  }
  throw startError(
    `No account can run PostgreSQL in ${folder}: move the folder and the program below folders that all users may enter, start the service as a user that has a name, or allow user namespaces`,
    reasons.filter(Boolean).join('; '),
  );
}

function give(path: string, { uid, gid }: Account): boolean {
  try {
    if (uid !== process.getuid?.()) chownSync(path, uid, gid);
    return true;
  } catch {
    return false;
  }
}

/** First starts that were killed halfway leave their folder, in which a last initdb may still be at work. */
function removeAbandoned(directory: string): void {
  for (const name of readdirSync(directory)) {
    const pid = /^postgres\.new-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(directory, name), { recursive: true, force: true, maxRetries: 9 });
  }
}

/** Of two first starts at once, one finds the folder there; it then meets the other's server. */
function claim(fresh: string, cluster: string): void {
  try {
    renameSync(fresh, cluster);
  } catch (error) {
    if (!existsSync(join(cluster, 'data'))) throw error;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync();
  await handle.close();
}

const pollMs = 20;
const patienceMs = { stopping: 10_000, running: 2_000 };

/**
 * Waits for a predecessor that is still stopping, at most ten seconds. A server that shows no sign of stopping within two (the one of a
 * service just killed learns of it in milliseconds) is somebody's: throws.
 */
export async function whenVacant(data: string): Promise<void> {
  const cluster = realpathSync(data);
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const lock = readLock(cluster);
    if (lock === undefined) return;
    const pids = processesIn(cluster);
    if (pids.length === 0 && !(await answers(lock.socket))) {
      // the number of a process long gone may be another's by now, which PostgreSQL would take for itself
      if (existsSync(`/proc/${lock.pid}`)) rmSync(join(cluster, 'postmaster.pid'), { force: true });
      return;
    }
    const running = lock.status !== 'stopping' && (pids.length === 0 || pids.includes(lock.pid));
    if (waitedMs >= patienceMs[running ? 'running' : 'stopping']) throw inUse(data);
    await setTimeout(pollMs);
  }
}

export function inUse(data: string): Error {
  return new Error(
    `The database in ${data} is in use by another running service: stop that one first, or give this one another directory.`,
  );
}

/** `postmaster.pid`: process, folder, start, port, socket folder, addresses, shared memory, status. */
function readLock(data: string): { readonly pid: string; readonly socket: string; readonly status: string } | undefined {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: lines[0] ?? '', socket: `${lines[4]}/.s.PGSQL.${lines[3]}`, status: (lines[7] ?? '').trim() };
  } catch {
    return undefined;
  }
}

/** Every process of a server has its data folder as its working directory. */
function processesIn(folder: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => /^\d/.test(pid) && workingDirectory(pid) === folder);
}

function workingDirectory(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** Sees the server of another container, too, whose processes cannot be seen. */
function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    connection.once('connect', () => resolve(true));
    connection.once('error', () => resolve(false));
    connection.once('connect', () => connection.destroy());
  });
}
