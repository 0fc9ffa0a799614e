/** Starts and stops the service: database, vault, first start, jobs, listeners; in that order, and back. */
import { hkdfSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import type { Logger } from 'pino';
import { assemble } from './app.ts';
import { createHosts } from './http/hosts.ts';
import { startManagement } from './http/management.ts';
import { createMetrics } from './http/metrics.ts';
import { createServer } from './http/server.ts';
import { createContexts, type Sources } from './kernel/context.ts';
import { createPerformer } from './kernel/perform.ts';
import { nobody } from './kernel/principal.ts';
import { type LabTools, makeLab } from './lab.ts';
import { bootstrap, createAuthenticator } from './modules/identity/index.ts';
import { checkVault, type VaultChecked } from './modules/system/index.ts';
import type { Settings } from './settings.ts';
import { createCommitter } from './storage/commit.ts';
import { type Database, openDatabase } from './storage/database.ts';
import { createDocuments } from './storage/documents.ts';
import { startEmbedded } from './storage/embedded.ts';
import { startJobs } from './storage/jobs.ts';
import { migrate } from './storage/migrate.ts';
import { vaultKey } from './vault/key.ts';
import { createVault, type RootVault } from './vault/vault.ts';
import { version } from './version.ts';

export interface Service {
  readonly port: number;
  readonly managementPort: number;
  /** Of the administrator, only when this start made it. */
  readonly administratorSecret?: string;
  /** Settles with a sentence when the embedded database ends unasked: nothing can go on without it. */
  readonly broken: Promise<string>;
  /** Lets requests and jobs under way finish, for ten seconds at most. */
  stop(): Promise<void>;
}

export interface ServiceTools {
  readonly settings: Settings;
  readonly sources: Sources;
  readonly log: Logger;
}

type Undo = () => Promise<unknown>;

export async function startService(tools: ServiceTools): Promise<Service> {
  const undo: Undo[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return { ...(await start(tools, undo)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start({ settings, sources, log }: ServiceTools, undo: Undo[]): Promise<Omit<Service, 'stop'>> {
  const metrics = createMetrics(version);
  const { url, broken } = await databaseAt({ settings, sources, log }, undo);
  const database = await openMigrated(url, settings, log, undo);
  const key = await vaultKey({
    setting: settings.vaultKey,
    directory: settings.dataDirectory,
    embedded: settings.database.url === undefined,
    random: sources.random,
  });
  const vault = createVault({ key, random: sources.random });

  const commit = createCommitter(database.writers, { lanes });
  // The sealer has a lane of its own: its batches are larger than what callers wait for.
  const parts = assemble({
    sealSecret: sealSecret(settings, vault),
    commit: createCommitter(database.writers, { lanes: 1 }),
    sources,
  });
  const performer = createPerformer(commit, parts.trail);
  const contexts = createContexts({
    sources,
    database,
    vault,
    log,
    node: settings.node,
    publicUrl: settings.publicUrl,
    queryDepthMax: settings.query.depthMax,
    configuration: createDocuments(database).current,
  });

  const made = await firstStart(settings, { operations: parts.operations, performer, context: (principal) => contexts({}, principal) });
  await performer.note({ code: 'SERVICE-START', module: 'service', status: 'success', details: { message: version } }, await contexts({}));
  const jobs = startJobs(parts.jobs, { context: () => contexts({}), performer, log });
  undo.push(async () => {
    await jobs.stop();
    await performer.note({ code: 'SERVICE-STOP', module: 'service', status: 'success', details: { message: version } }, await contexts({}));
  });

  const authenticate = createAuthenticator({ note: performer.note, sessionMs: settings.session.lifetime });
  const server = createServer(
    { operations: parts.operations, performer, hosts: createHosts(settings), context: contexts, authenticate },
    { bodyBytes: settings.limits.bodyBytes, trustedProxies: settings.trustedProxies, log, observe: metrics.observe },
  );
  undo.push(() => server.close());
  await server.listen({ host: settings.http.host, port: settings.http.port });
  const management = await startManagement({
    ...settings.management,
    ready: { database: () => database.rows({ text: 'select 1' }) },
    registry: metrics.registry,
  });
  undo.push(() => management.close());
  return { port: (server.server.address() as AddressInfo).port, managementPort: management.port, broken, ...made };
}

/** Transactions under way at once: more of them wait for each other's disk and hold up the readers. */
const lanes = 2;

async function databaseAt(
  { settings, sources, log }: ServiceTools,
  undo: Undo[],
): Promise<{ readonly url: string; readonly broken: Promise<string> }> {
  if (settings.database.url !== undefined) return { url: settings.database.url, broken: new Promise(() => {}) };
  const embedded = await startEmbedded({
    directory: settings.dataDirectory,
    random: sources.random,
    log: (line) => log.info({ from: 'postgresql' }, line),
  });
  undo.push(() => embedded.stop());
  return { url: embedded.url, broken: embedded.ended };
}

async function openMigrated(url: string, settings: Settings, log: Logger, undo: Undo[]): Promise<Database> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  const applied = await migrate(client).finally(() => client.end());
  if (applied.length > 0) log.info({ applied }, 'the database was migrated');
  const database = openDatabase({
    url,
    poolSize: settings.database.poolSize,
    lanes: lanes + 1,
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  });
  undo.push(() => database.close());
  return database;
}

/** The setting, or derived from the vault key: the same in every process as long as that is. */
function sealSecret({ events }: Settings, vault: RootVault): Uint8Array {
  if (events.sealSecret === undefined) return vault.derive('event.seal');
  return new Uint8Array(hkdfSync('sha256', events.sealSecret, '', 'event.seal', 32));
}

async function firstStart(settings: Settings, tools: LabTools): Promise<{ administratorSecret?: string }> {
  const { performer, context } = tools;
  const checked = await performer.perform(checkVault, { params: {}, query: {}, body: undefined }, await context(nobody));
  if (checked.status !== 200) throw new Error(`The vault key could not be checked: ${JSON.stringify(checked.body)}`);
  if (!(checked.body as VaultChecked).fits)
    throw new Error(
      'The vault key is not the one that this database was sealed with: give the key it was started with at first (vaultKey).',
    );
  const { created, password } = await bootstrap(await context(nobody), performer, settings.admin);
  if (created && settings.lab.enabled) await makeLab(tools);
  return password === undefined ? {} : { administratorSecret: password };
}
