/**
 * Starts the PostgreSQL that npm installed, on a Unix socket, as a child that never outlives the service.
 * It knows nothing of what is stored in it.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, readlinkSync, rmdirSync, rmSync, symlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { type Account, commandAs, ownerOf, run } from './embedded-account.ts';
import { installedFolder, openBinaries } from './embedded-binaries.ts';
import { type ClusterOptions, createCluster, inUse, whenVacant } from './embedded-cluster.ts';
import { startError } from './embedded-errors.ts';

export interface EmbeddedOptions {
  /** The service's own folder; the database takes `postgres` in it. */
  readonly directory: string;
  /** Receives what PostgreSQL has to say, line by line. */
  readonly log: (line: string) => void;
  /** Random bytes; asked once in the life of a directory, for the password. */
  readonly random: (size: number) => Uint8Array;
  /** Server settings that replace or join the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A folder of `bin`, `lib` and `share` in place of the installed one. */
  readonly binaries?: string;
  /** Where `sh`, `id`, `setpriv` and `unshare` are looked for. */
  readonly path?: string;
}

export interface Embedded {
  /** Connects the owner of the database `perennial`; holds the password. */
  readonly url: string;
  readonly version: string;
  /** Settles when the server ends, asked or not, with the way it ended. */
  readonly ended: Promise<string>;
  /** Ends all connections and the server, everything on the disk. May be called twice. */
  stop(): Promise<void>;
}

const usualSettings: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  max_connections: '60',
  password_encryption: 'scram-sha-256',
  shared_buffers: '256MB',
  huge_pages: 'off',
  jit: 'off',
  fsync: 'on',
  synchronous_commit: 'on',
  wal_compression: 'off',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  log_checkpoints: 'off',
  // no statements and no rows in the service's log: callers get their errors themselves
  log_min_messages: 'log',
  log_line_prefix: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
};

/**
 * Answers when the server takes connections. The server does not keep the service's process alive. Throws one sentence that says what
 * to do: not installed, not this platform, in use, no account to run as, no space.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { log, settings = {}, path = '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' } = options;
  const directory = resolve(options.directory);
  const cluster = join(directory, 'postgres');
  const data = join(cluster, 'data');
  const binaries = openBinaries(options.binaries ?? installedFolder());
  const account = await openCluster(options, { directory, binaries, path });
  const password = readPassword(join(cluster, 'password'));
  await whenVacant(data);
  const socket = socketFolder(cluster, account, log);
  const flags = Object.entries({ ...usualSettings, ...settings, unix_socket_directories: socket }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const server = await spawnGuarded(account, path, [binaries.postgres, '-D', data, ...flags]);
  const version = await whenReady(server, data, log);
  release(server.child);
  const url = `postgresql://perennial:${password}@/perennial?host=${encodeURIComponent(socket)}&port=5432`;
  const stop = async () => {
    await stopServer(server, log);
    removeSocketFolder(cluster);
  };
  return { url, version, ended: server.ended, stop };
}

/** Who the database belongs to; makes it where there is none. */
async function openCluster(options: EmbeddedOptions, place: Omit<ClusterOptions, 'password'>): Promise<Account> {
  const data = join(place.directory, 'postgres/data');
  try {
    if (!existsSync(data)) await createCluster({ ...place, password: Buffer.from(options.random(24)).toString('base64url') });
    return ownerOf(data);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw startError(`The service cannot use the folder ${place.directory}`, error.message);
  }
}

function readPassword(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`The database password ${file} cannot be read: restore that file from the backup of its folder.`, { cause });
  }
}

/** The path of a Unix socket has at most 107 bytes: where the cluster's is longer, a private folder for it and a link to that, to find it again. */
function socketFolder(cluster: string, { uid, gid }: Account, log: (line: string) => void): string {
  removeSocketFolder(cluster);
  if (Buffer.byteLength(join(cluster, '.s.PGSQL.5432')) <= 107) return cluster;
  const folder = mkdtempSync(join(tmpdir(), 'perennial-'));
  if (uid !== process.getuid?.()) chownSync(folder, uid, gid);
  symlinkSync(folder, join(cluster, 'socket'));
  log(`The database listens in ${folder}, as the path of ${cluster} is too long for a socket`);
  return folder;
}

function removeSocketFolder(cluster: string): void {
  const link = join(cluster, 'socket');
  try {
    rmdirSync(readlinkSync(link));
  } catch {
    // there was none, or it has been cleared away
  }
  rmSync(link, { force: true });
}

interface Server {
  readonly child: ChildProcess;
  readonly ended: Promise<string>;
}

/**
 * The server ends with this process, however that ends. The kernel signals it (`setpriv`), asked before the shell looks whether the
 * parent is still there; where that is not to be had, a shell waits for the end of a pipe that only this process holds.
 */
async function spawnGuarded(account: Account, path: string, argv: readonly string[]): Promise<Server> {
  const signalled = ['setpriv', '--pdeathsig=INT', 'sh', '-c', '[ "$PPID" = "$0" ] && exec "$@"', String(process.pid)];
  const { ok } = await run(commandAs(account, path, [...signalled, 'sh', '-c', ':']));
  const { file, args, options } = commandAs(account, path, ok ? [...signalled, ...argv] : argv);
  // a session of its own: Ctrl-C is for the service, which then stops the server
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<string>((settle) => {
    child.once('error', (error) => settle(error.message));
    child.once('close', (code, signal) => settle(signal ?? `exit code ${code}`));
  });
  if (!ok && child.pid !== undefined) watch(child, child.pid, path);
  return { child, ended };
}

function watch(child: ChildProcess, pid: number, path: string): void {
  const script = 'while read -r line; do :; done; kill -INT "$0"';
  const watchdog = spawn('sh', ['-c', script, String(pid)], {
    cwd: '/',
    env: { PATH: path },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  release(watchdog);
  child.once('exit', () => watchdog.kill('SIGKILL'));
}

/** Lets this process end although the child runs. */
function release(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
}

/** The version, once the server says that it is ready. Recovery after a crash takes its time: no limit. */
function whenReady({ child, ended }: Server, data: string, log: (line: string) => void): Promise<string> {
  return new Promise((settle, reject) => {
    const said: string[] = [];
    let version: string | undefined;
    let ready = false;
    createInterface({ input: child.stderr! }).on('line', (line) => {
      log(line);
      if (ready) return;
      said.push(line);
      version ??= /starting PostgreSQL (\S+)/.exec(line)?.[1];
      ready = line.includes('database system is ready to accept connections');
      if (ready) settle(version ?? '');
    });
    void ended.then((how) => {
      const stderr = said.join('\n');
      const occupied = /lock file "postmaster.pid" already exists|pre-existing shared memory block/.test(stderr);
      reject(occupied ? inUse(data) : startError(`PostgreSQL did not start in ${data} (${how})`, stderr));
      if (ready) log(`PostgreSQL ended (${how})`);
    });
  });
}

const fastStopMs = 15_000;

/** A fast shutdown; where that takes too long an immediate one, after which the next start recovers. */
async function stopServer({ child, ended }: Server, log: (line: string) => void): Promise<void> {
  child.ref();
  child.kill('SIGINT');
  const patience = new AbortController();
  const late = setTimeout(fastStopMs, true, { signal: patience.signal }).catch(() => false);
  if (await Promise.race([ended.then(() => false), late])) {
    log('PostgreSQL takes too long to stop and is stopped at once');
    child.kill('SIGQUIT');
    await ended;
  }
  patience.abort();
}
