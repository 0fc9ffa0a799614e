/** Services for journeys: the real program as a child process, on ports and in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenApi } from '../../src/http/openapi.ts';
import { type Client, createClient } from './client.ts';

export const administratorSecret = 'the-administrators-secret';
export const root = join(import.meta.dirname, '..', '..');
const startScript: readonly string[] = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts.start.split(' ');
/** What `npm start` runs, from any folder. */
export const startWords: readonly [node: string, ...words: string[]] = [
  process.execPath,
  ...startScript.slice(startScript.indexOf('node') + 1).map((word) => (word === 'src/main.ts' ? join(root, word) : word)),
];
export const openapi: OpenApi = JSON.parse(readFileSync(join(root, 'api', 'openapi.json'), 'utf8'));

export interface RunningService {
  readonly url: string;
  readonly managementUrl: string;
  /** Connects to its database, around the service. */
  readonly databaseUrl: string;
  /** Milliseconds from the start of the process until it said that it is ready. */
  readonly readyMs: number;
  /** What it said on its standard output. */
  readonly welcome: string;
  /** The service's folder. */
  readonly folder: string;
  client(apiId?: string, apiKey?: string): Client;
  /** Ends the process by SIGTERM, or at once; answers its exit code, null when it was killed. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

export interface ServiceOptions {
  /** The service's folder; default a new one. */
  readonly directory?: string;
  /** Of another database than the embedded one. */
  readonly databaseUrl?: string;
  readonly settings?: Readonly<Record<string, string>>;
}

export async function startService({ directory, databaseUrl, settings = {} }: ServiceOptions = {}): Promise<RunningService> {
  const folder = directory ?? (await newFolder());
  const { env, port, managementPort } = await environmentOf(folder, { ...(databaseUrl ? { databaseUrl } : {}), settings });
  const started = performance.now();
  const [node, ...words] = startWords;
  const child = spawn(node, words, { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const welcome = await ready(child);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    managementUrl: `http://127.0.0.1:${managementPort}`,
    databaseUrl: databaseUrl ?? embeddedUrl(folder),
    readyMs: Math.round(performance.now() - started),
    welcome,
    folder,
    client: (apiId, apiKey) =>
      createClient({ url, openapi, ...(apiId === undefined ? {} : { apiId }), ...(apiKey === undefined ? {} : { apiKey }) }),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill(signal);
        await ended;
      }
      if (directory === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      return child.exitCode;
    },
  };
}

/** The variables of a service in a folder of its own, on ports that are free now. */
export async function environmentOf(folder: string, { databaseUrl, settings }: Pick<ServiceOptions, 'databaseUrl' | 'settings'> = {}) {
  const [port, managementPort] = [await freePort(), await freePort()];
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    PERENNIAL_HTTP_PORT: String(port),
    PERENNIAL_MANAGEMENT_PORT: String(managementPort),
    PERENNIAL_DATA_DIRECTORY: folder,
    PERENNIAL_ADMIN_PASSWORD: administratorSecret,
    PERENNIAL_LOG_LEVEL: 'warn',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl, PERENNIAL_VAULT_KEY: '11'.repeat(32) }),
    ...settings,
  };
  return { env, port, managementPort };
}

/** The processes of the embedded database in a service's folder. */
export function databaseProcesses(folder: string): readonly number[] {
  const data = join(folder, 'postgres', 'data');
  const worksIn = (pid: string): string => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`);
    } catch {
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && worksIn(pid) === data)
    .map(Number);
}

/** Of a service, below the temporary folder; PostgreSQL may run as another user. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'perennial-journey-'));
  chmodSync(folder, 0o711);
  return folder;
}

/** Resolves with what the program says once it is ready; rejects with what it complained of. */
function ready(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let [said, complained] = ['', ''];
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (/^ {2}stop .*\n/m.test(said)) resolve(said);
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      complained = (complained + text).slice(-10_000);
    });
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${complained}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** The embedded database's address, from its own files. */
function embeddedUrl(folder: string): string {
  const data = join(folder, 'postgres', 'data');
  const socket = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[4];
  const password = readFileSync(join(folder, 'postgres', 'password'), 'utf8').trim();
  return `postgresql://perennial:${encodeURIComponent(password)}@/perennial?host=${encodeURIComponent(socket!)}&port=5432`;
}
