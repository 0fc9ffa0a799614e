/** From `npm start` to the end: what a newcomer sees, what a wrong start says, and what an operator relies on. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { startEmbedded } from '../../src/storage/embedded.ts';
import { version } from '../../src/version.ts';
import { at, type Client } from '../support/client.ts';
import { createDatabase } from '../support/database.ts';
import { openDesk } from '../support/openssl.ts';
import {
  administratorSecret,
  databaseProcesses,
  environmentOf,
  newFolder,
  type RunningService,
  root,
  startService,
  startWords,
} from '../support/service.ts';
import { is, refused } from '../support/story.ts';
import { until } from '../support/until.ts';

const desk = openDesk();
const folders: string[] = [];
const started: RunningService[] = [];
const folder = async (): Promise<string> => {
  folders.push(await newFolder());
  return folders.at(-1)!;
};
const begin = async (...options: Parameters<typeof startService>): Promise<RunningService> => {
  started.push(await startService(...options));
  return started.at(-1)!;
};
const asAdministrator = (service: RunningService): Client => service.client('administrator', administratorSecret);
after(async () => {
  await Promise.all(started.map((service) => service.stop()));
  for (const each of folders) rmSync(each, { recursive: true, force: true });
  desk.close();
});

/** The program with other words or settings, until it ends by itself. */
async function run(words: readonly string[], settings: Readonly<Record<string, string>>, databaseUrl?: string) {
  const directory = await folder();
  const { env } = await environmentOf(directory, { settings, ...(databaseUrl ? { databaseUrl } : {}) });
  const [node, ...main] = startWords;
  const child = promisify(execFile)(node, [...main, ...words], { env, cwd: directory });
  const { stdout, stderr, code } = await child.then(
    (said) => ({ ...said, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  );
  return { stdout, stderr, code };
}

describe('a newcomer', () => {
  const withoutPassword = { PERENNIAL_ADMIN_PASSWORD: '' };

  it('starts it, has a certificate by the line that it prints, stops it and starts it again', async () => {
    const directory = await folder();
    const first = await begin({ directory, settings: withoutPassword });
    for (const part of [`Perennial ${version}`, directory, first.url.replace('127.0.0.1', 'localhost'), 'Ctrl-C'])
      assert.ok(first.welcome.includes(part), `${part} in ${first.welcome}`);

    const file = join(directory, 'administrator.secret');
    const secret = readFileSync(file, 'utf8').trim();
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(first.welcome.includes(file) && !first.welcome.includes(secret), 'the secret is not where a log would keep it');

    const line = first.welcome.split('\n').find((each) => each.trim().startsWith('curl'))!;
    const { stdout } = await promisify(execFile)('bash', ['-c', line], { cwd: directory });
    const request = JSON.parse(stdout) as { status: string; certificate: { certificate: string } };
    assert.equal(request.status, 'completed');
    const { caCert } = is(200, await first.client('administrator', secret).call('GET', '/api/v1/pki/connectors/lab')) as { caCert: string };
    const [leaf, ca] = [desk.file('first.pem', request.certificate.certificate), desk.file('lab.pem', caCert)];
    assert.match(desk.run('verify', '-x509_strict', '-CAfile', ca, leaf), /first\.pem: OK/);
    assert.match(desk.run('x509', '-in', leaf, '-noout', '-subject'), /first\.example\.test/);

    const asked = performance.now();
    assert.equal(await first.stop(), 0);
    assert.ok(performance.now() - asked < 5_000, 'it does not take long to stop');
    assert.deepEqual(databaseProcesses(directory), []);

    const second = await begin({ directory, settings: withoutPassword });
    assert.doesNotMatch(second.welcome, /login/, 'the secret is told once');
    const query = { query: 'dn contains "first.example.test"', withCount: true };
    assert.equal(at(is(200, await second.client('administrator', secret).call('POST', '/api/v1/certificates/search', query)), 'count'), 1);
    await second.stop();
  });

  it('is shown the secret on a terminal, and on a terminal alone', async () => {
    const directory = await folder();
    const { env } = await environmentOf(directory, { settings: withoutPassword });
    const command = startWords.map((word) => `'${word}'`).join(' ');
    const terminal = spawn('script', ['-qefc', `exec ${command} 2>/dev/null`, '/dev/null'], {
      env,
      cwd: directory,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    await until(async () => /^ {2}stop /m.test(shown));
    const ended = once(terminal, 'exit');
    terminal.stdin.write('\x03');
    await ended;
    const secret = /administrator, secret (\S+) {3}\(shown once\)/.exec(shown)?.[1];
    assert.ok(secret !== undefined && shown.includes(`X-API-KEY:${secret}`), shown);
    assert.equal(existsSync(join(directory, 'administrator.secret')), false);
    await until(async () => databaseProcesses(directory).length === 0);
  });

  it('does the same with npm', async () => {
    const directory = await folder();
    const { env } = await environmentOf(directory);
    // In a group of its own, as a shell starts it: Ctrl-C reaches everything in it.
    const npm = spawn('npm', ['start'], { env, cwd: root, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    let said = '';
    npm.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until(async () => /^ {2}stop /m.test(said));
    const ended = once(npm, 'exit');
    process.kill(-npm.pid!, 'SIGINT');
    await ended;
    await until(async () => databaseProcesses(directory).length === 0);
  });
});

describe('a start that cannot be', () => {
  it('says what is wrong, once, and ends with 1', async () => {
    const wrong: readonly (readonly [words: readonly string[], settings: Readonly<Record<string, string>>, said: RegExp])[] = [
      [['--port', '9000'], {}, /^unknown argument '--port'\nusage: npm start [^\n]*\n$/],
      [[], { PERENNIAL_HTTP_PORT: 'many' }, /^The settings are wrong:\n {2}PERENNIAL_HTTP_PORT: http\.port: [^\n]*\n$/],
      [[], { PERENNIAL_HTP_PORT: '1' }, /^The settings are wrong:\n {2}[^\n]*HTP_PORT[^\n]*HTTP_PORT[^\n]*\n$/],
      [[], { PERENNIAL_VAULT_KEY: 'short' }, /^The settings are wrong:\n {2}PERENNIAL_VAULT_KEY: vaultKey: expected 32 bytes[^\n]*\n$/],
      [['--settings', 'missing.yaml'], {}, /^The settings are wrong:\n {2}[^\n]*missing\.yaml[^\n]*\n$/],
      [['--settings'], {}, /^The settings are wrong:\n {2}--settings: [^\n]*\n$/],
      [
        [],
        { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none', PERENNIAL_VAULT_KEY: '11'.repeat(32) },
        /^Perennial could not start: [^\n]*\n$/,
      ],
      [[], { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }, /^Perennial could not start: [^\n]*\n$/],
    ];
    await Promise.all(
      wrong.map(async ([words, settings, said]) => {
        const { code, stdout, stderr } = await run(words, settings);
        assert.deepEqual([code, stdout], [1, ''], stderr);
        assert.match(stderr, said);
      }),
    );
  });

  it('refuses a database that another key sealed, and a folder or a port in use', async () => {
    const { url } = await createDatabase();
    const service = await begin({ databaseUrl: url });
    const { code, stderr } = await run([], { PERENNIAL_VAULT_KEY: '22'.repeat(32) }, url);
    assert.equal(code, 1);
    assert.match(stderr, /^Perennial could not start: The vault key is not the one that this database was sealed with: [^\n]*\n$/m);
    const busy = await run([], { PERENNIAL_HTTP_PORT: new URL(service.url).port }, url);
    assert.equal(busy.code, 1);
    assert.match(busy.stderr, /^Perennial could not start: [^\n]*in use[^\n]*\n$/m);
    await service.stop();
  });

  it('prints settings without a secret', async () => {
    const canary = 'canary-4711-canary-4711-canary-4711-canary';
    const key = '7c'.repeat(32);
    const { code, stdout } = await run(['--print-settings'], {
      PERENNIAL_ADMIN_PASSWORD: canary,
      PERENNIAL_EVENTS_SEAL_SECRET: canary,
      PERENNIAL_VAULT_KEY: key,
      DATABASE_URL: `postgresql://perennial:${canary}@db.test/perennial`,
    });
    assert.equal(code, 0);
    assert.match(stdout, /^vaultKey: \(hidden\) {2}# PERENNIAL_VAULT_KEY$/m);
    assert.match(stdout, /^query\.depthMax: 5 {2}# default$/m);
    assert.ok(!stdout.includes('canary') && !stdout.includes(key), stdout);
  });
});

it('the lab is made where nothing else is at stake, or where it is asked for', async () => {
  const hasLab = async (settings: Readonly<Record<string, string>>) => {
    const { url } = await createDatabase();
    const service = await begin({ databaseUrl: url, settings });
    const { status } = await asAdministrator(service).call('GET', '/api/v1/certificate/profiles/lab');
    assert.equal(service.welcome.includes('curl'), status === 200);
    await service.stop();
    return status === 200;
  };
  assert.deepEqual(await Promise.all([hasLab({}), hasLab({ PERENNIAL_LAB_ENABLED: 'true' })]), [false, true]);
});

describe('an operator', () => {
  const manage = async (service: RunningService, path: string) => {
    const answer = await fetch(`${service.managementUrl}${path}`);
    return { status: answer.status, text: await answer.text() };
  };

  it('sees that the database is away, and that it is back', async () => {
    const directory = await folder();
    const startDatabase = () => startEmbedded({ directory, random: randomBytes, log: () => {} });
    let database = await startDatabase();
    const service = await begin({ databaseUrl: database.url, settings: { PERENNIAL_LOG_LEVEL: 'silent' } });
    const admin = asAdministrator(service);
    const ready = async () => (await manage(service, '/ready')).status;
    assert.deepEqual(await ready(), 200);
    is(204, await admin.call('GET', '/api/v1/pki/queues/'));
    assert.match((await manage(service, '/metrics')).text, /^perennial_[a-z_]+(\{.*\})? \d/m);

    await database.stop();
    assert.equal(await ready(), 503);
    assert.equal((await manage(service, '/live')).status, 200, 'the process itself is well');
    for (const [method, path, body] of [
      ['GET', '/api/v1/pki/queues/', undefined],
      ['POST', '/api/v1/pki/queues/', { name: 'q', size: 1, clusterWide: false }],
    ] as const) {
      const began = performance.now();
      refused(503, 'ROUTE-006', await admin.call(method, path, body));
      assert.ok(performance.now() - began < 6_000, `answered after ${performance.now() - began} ms`);
    }

    database = await startDatabase();
    await until(async () => (await ready()) === 200);
    is(201, await admin.call('POST', '/api/v1/pki/queues/', { name: 'q', size: 1, clusterWide: false }));

    // A database that hangs is no better than one that is away.
    const stalled = databaseProcesses(directory);
    for (const pid of stalled) process.kill(pid, 'SIGSTOP');
    try {
      assert.equal(await ready(), 503);
    } finally {
      for (const pid of stalled) process.kill(pid, 'SIGCONT');
    }
    await until(async () => (await ready()) === 200);
    is(200, await admin.call('GET', '/api/v1/pki/queues/'));
    assert.equal(await service.stop(), 0);
    await database.stop();
  });
});
