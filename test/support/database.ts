/**
 * Databases for tests: one PostgreSQL, one migrated template, and a copy of it for whoever asks.
 * `node --test --test-global-setup=test/support/database.ts` shares them among all test files; a file run alone starts its own.
 * PERENNIAL_TEST_DATABASE_URL names a server to use in place of the embedded one; its user must be allowed to create databases.
 */

import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../../src/storage/embedded.ts';
import { migrate } from '../../src/storage/migrate.ts';

export interface TestDatabase {
  readonly url: string;
  /** Ends what is still connected. */
  drop(): Promise<void>;
}

interface TestServer {
  /** Of the database to connect to for making others. */
  readonly url: string;
  readonly template: string;
  stop(): Promise<void>;
}

let own: Promise<TestServer> | undefined;
let made = 0;

/** For the test runner. */
export async function globalSetup(): Promise<void> {
  own = startServer();
  const { url, template } = await own;
  process.env['PERENNIAL_TEST_SERVER'] = JSON.stringify({ url, template });
}

/** For the test runner. */
export async function globalTeardown(): Promise<void> {
  await (await own)?.stop();
}

/** An empty, migrated database. */
export async function createDatabase(): Promise<TestDatabase> {
  const { url, template } = await sharedServer();
  made += 1;
  const name = `test_${process.pid}_${made}`;
  await administer(url, `create database ${name} template ${template} strategy file_copy`); // 10 ms in memory, the other way 140
  return { url: withDatabase(url, name), drop: () => administer(url, `drop database ${name} with (force)`) };
}

async function sharedServer(): Promise<Pick<TestServer, 'url' | 'template'>> {
  const shared = process.env['PERENNIAL_TEST_SERVER'];
  if (shared !== undefined) return JSON.parse(shared);
  if (own === undefined) {
    own = startServer();
    process.once('beforeExit', globalTeardown);
  }
  return own;
}

async function startServer(): Promise<TestServer> {
  const server = await openServer();
  const template = `test_template_${process.pid}`;
  await administer(server.url, `create database ${template}`);
  const client = new pg.Client(withDatabase(server.url, template));
  await client.connect();
  await migrate(client);
  await client.end();
  const stop = async () => {
    await administer(server.url, `drop database ${template}`);
    await server.stop();
  };
  return { url: server.url, template, stop };
}

async function openServer(): Promise<Omit<TestServer, 'template'>> {
  const external = process.env['PERENNIAL_TEST_DATABASE_URL'];
  if (external !== undefined) return { url: external, stop: async () => {} };
  const directory = await mkdtemp(join(await memoryFolder(), 'perennial-test-'));
  await chmod(directory, 0o711); // root's PostgreSQL runs as another user
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200', max_wal_size: '256MB' };
  const { url, stop } = await startEmbedded({ directory: join(directory, 'service'), log: () => {}, random: randomBytes, settings });
  const stopAndRemove = async () => {
    await stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { url, stop: stopAndRemove };
}

/** A folder whose files are in memory, where there is room for them; else the usual temporary one. */
export async function memoryFolder(): Promise<string> {
  const memory = '/dev/shm';
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize > 2 ** 30 ? memory : tmpdir();
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  return url.replace(/^([^?]*\/)[^/?]*/, `$1${name}`);
}
