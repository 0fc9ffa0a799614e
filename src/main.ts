#!/usr/bin/env node
/** Starts the service from the command line: settings, the words on the terminal, signals. */
import { chmodSync, writeFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join, resolve } from 'node:path';

const nodeMajorMin = 26;
if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  process.stderr.write(
    `Perennial runs on Node ${nodeMajorMin}, this is ${process.version}: start it with "npm start", which uses the one that "npm ci" installed.\n`,
  );
  process.exit(1);
}
enableCompileCache();

const { default: pino } = await import('pino');
const { startService } = await import('./service.ts');
const { loadSettings, printSettings, processInputs, SettingsError } = await import('./settings.ts');
const { systemSources } = await import('./kernel/context.ts');
const { version } = await import('./version.ts');

const usage = 'usage: npm start -- [--settings FILE] [--print-settings]';

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  const inputs = processInputs();
  const unknown = inputs.argv.filter(
    (word, i) => !['--settings', '--print-settings'].includes(word) && inputs.argv[i - 1] !== '--settings',
  );
  if (unknown.length > 0) fail(`unknown argument '${unknown[0]}'\n${usage}`);
  if (inputs.argv.includes('--print-settings')) return void process.stdout.write(printSettings(inputs));

  const settings = loadSettings(inputs);
  const destination = pino.destination({ dest: 2, sync: false });
  const log = pino({ level: settings.log.level, base: { node: settings.node } }, destination);
  const service = await startService({ settings, sources: systemSources, log }).catch((error: unknown) => {
    // The reason comes last, below what was logged on the way.
    destination.flushSync();
    throw error;
  });
  process.stdout.write(welcome(settings, service));

  let stopping = false;
  const stop = async (reason: string, code: number) => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => process.exit(code || 1), 15_000).unref();
    await service.stop().catch((error: unknown) => log.error({ err: error }, 'stopping failed'));
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(signal, 0));
  void service.broken.then((reason) => stop(`the database ended: ${reason}`, 1));
}

type Settings = ReturnType<typeof loadSettings>;
type Service = Awaited<ReturnType<typeof startService>>;

/** What a newcomer needs: where everything is, the secret, a first certificate, how to stop. */
function welcome({ publicUrl, dataDirectory, database, lab }: Settings, { administratorSecret, managementPort }: Service): string {
  const secret = administratorSecret === undefined ? undefined : toldSecret(administratorSecret, dataDirectory);
  const key = secret?.word ?? '"$SECRET"';
  const request = `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout first.key -subj /CN=first.example.test -outform DER 2>/dev/null | base64 -w0`;
  const curl = `curl -s ${publicUrl}/api/v1/requests/submit -H 'X-API-ID: administrator' -H X-API-KEY:${key} -H 'Content-Type: application/json' -d '{"profile":"lab","template":{"csr":"'"$(${request})"'"}}'`;
  return [
    `Perennial ${version}`,
    `  data      ${database.url === undefined ? resolve(dataDirectory) : 'the PostgreSQL of DATABASE_URL'}`,
    `  address   ${publicUrl}   (management: http://127.0.0.1:${managementPort}/ready)`,
    ...(secret ? [`  login     administrator, secret ${secret.words}`] : []),
    ...(lab.enabled ? ['  a first certificate:', `    ${curl}`] : []),
    '  stop      Ctrl-C, or SIGTERM to this process',
    '',
  ].join('\n');
}

/** Shown on a terminal alone; anywhere else it would stay in a log. */
function toldSecret(secret: string, directory: string): { readonly words: string; readonly word: string } {
  if (process.stdout.isTTY) return { words: `${secret}   (shown once)`, word: secret };
  const file = resolve(join(directory, 'administrator.secret'));
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return { words: `in ${file}`, word: `"$(cat '${file}')"` };
}

await main().catch((error: unknown) =>
  fail(
    error instanceof SettingsError ? error.message : `Perennial could not start: ${error instanceof Error ? error.message : String(error)}`,
  ),
);
