import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Endpoint, type HostSettings, hostName } from './http/hosts.ts';
import { describeSettings, loadSettings, printSettings, processInputs, type Settings, SettingsError } from './settings.ts';
import { type SettingsInputs, unknownName, variableOf } from './settings-sources.ts';

type Env = SettingsInputs['env'];
const hex = '0f'.repeat(32);

const inputs = (yaml?: string, env: Env = {}, argv: readonly string[] = [], files: Env = {}): SettingsInputs => ({
  argv,
  env,
  readFile: (path) => ({ 'perennial.yaml': yaml, ...files })[path],
  hostname: 'machine',
});
const load = (...all: Parameters<typeof inputs>): Settings => loadSettings(inputs(...all));
const problems = (...all: Parameters<typeof inputs>): readonly string[] => {
  try {
    loadSettings(inputs(...all));
    return [];
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    return error.problems;
  }
};

test('with nothing given the defaults stand', () => {
  assert.deepEqual(load(), {
    http: { host: '127.0.0.1', port: 9000 },
    publicUrl: 'http://localhost:9000',
    allowedHosts: [],
    endpoints: undefined,
    trustedProxies: [],
    session: { lifetime: 900_000 },
    vaultKey: undefined,
    events: { sealSecret: undefined },
    database: { url: undefined, poolSize: 8 },
    dataDirectory: '.perennial',
    lab: { enabled: true },
    admin: { password: undefined },
    management: { host: '127.0.0.1', port: 9095 },
    log: { level: 'info' },
    node: 'machine',
    limits: { bodyBytes: 10_485_760 },
    query: { depthMax: 5 },
  });
});

test('the types are those of the values', () => {
  const settings = load();
  settings satisfies HostSettings;
  settings.http.port satisfies number;
  settings.vaultKey satisfies Uint8Array | undefined;
  settings.lab.enabled satisfies boolean;
  assert.throws(() => Object.assign(settings.http, { port: 1 }), TypeError);
});

test('the file, then DATABASE_URL, then PERENNIAL variables: later wins', () => {
  const yaml = 'http: {port: 1}\ndatabase.url: postgresql://file/a\nnode: one';
  assert.equal(load(yaml).database.url, 'postgresql://file/a');
  const plain = load(yaml, { DATABASE_URL: 'postgres://plain/a', PERENNIAL_HTTP_PORT: '2' });
  assert.deepEqual([plain.database.url, plain.http.port, plain.node], ['postgres://plain/a', 2, 'one']);
  const env = { DATABASE_URL: 'postgres://plain/a', PERENNIAL_DATABASE_URL: 'postgres://ours/a' };
  for (const order of [env, Object.fromEntries(Object.entries(env).reverse())])
    assert.equal(load(yaml, order).database.url, 'postgres://ours/a');
});

test('defaults follow other settings', () => {
  assert.equal(load('http.port: 8080').publicUrl, 'http://localhost:8080');
  assert.equal(load('', { DATABASE_URL: 'postgresql:///perennial?host=/run/postgresql' }).lab.enabled, false);
  assert.equal(load('lab.enabled: true', { DATABASE_URL: 'postgresql://x/y' }).lab.enabled, true);
  assert.equal(load('lab: {enabled: false}').lab.enabled, false);
});

test('the file is the one asked for, and must then be there', () => {
  const files = { 'a.yaml': 'node: a', 'b.yaml': 'node: b' };
  const env = { PERENNIAL_SETTINGS: 'b.yaml' };
  assert.equal(load('node: default', env, [], files).node, 'b');
  for (const argv of [['--settings', 'a.yaml'], ['--settings=a.yaml'], ['--print-settings', '--settings', 'a.yaml', 'more']])
    assert.equal(load('node: default', env, argv, files).node, 'a');
  assert.deepEqual(problems('', {}, ['--settings', 'c.yaml']), ['c.yaml: there is no such file']);
  assert.deepEqual(problems('', {}, ['--settings']), ['--settings: the name of a file is missing']);
  const unreadable = { ...inputs(), readFile: () => assert.fail(Object.assign(new Error('secret words'), { code: 'EACCES' })) };
  assert.throws(() => loadSettings(unreadable), { message: /perennial\.yaml: the file cannot be read \(EACCES\)/ });
});

test('every setting has a variable that says the same as the file', () => {
  const cases: readonly (readonly [key: string, yaml: string, text: string])[] = [
    ['http.host', '"::"', '::'],
    ['publicUrl', 'https://Pki.example.com:443/', 'https://pki.example.com'],
    ['allowedHosts', '[A.example.com, "::1"]', 'a.example.com, [::1],'],
    ['trustedProxies', '[10.0.0.0/8, "fd00::/8", 192.0.2.1]', '10.0.0.0/8,fd00::/8,192.0.2.1'],
    ['endpoints', '[{host: A.example, acme: true}]', '[{"host": "a.example", "acme": true, "est": false}]'],
    ['session.lifetime', '2h', '120 minutes'],
    ['vaultKey', `"${hex}"`, Buffer.from(hex, 'hex').toString('base64')],
    ['lab.enabled', 'false', 'false'],
    ['limits.bodyBytes', '2048', '2048'],
    ['query.depthMax', '7', '7'],
  ];
  for (const [key, yaml, text] of cases) assert.deepEqual(load(`${key}: ${yaml}`), load('', { [variableOf(key)]: text }), key);
  assert.deepEqual(['publicUrl', 'http.port', 'limits.bodyBytes'].map(variableOf), [
    'PERENNIAL_PUBLIC_URL',
    'PERENNIAL_HTTP_PORT',
    'PERENNIAL_LIMITS_BODY_BYTES',
  ]);
});

test('endpoints: each flag is false unless it is set', () => {
  const [first] = load('endpoints:\n  - host: RA.example.com\n    webra: true').endpoints ?? [];
  const expected = { configuration: false, events: false, discovery: false, webra: true, wcce: false, acme: false, est: false } as const;
  assert.deepEqual(first, { host: 'ra.example.com', ...expected, scep: false, scim: false, mdm: false, dcv: false } satisfies Endpoint);
  assert.deepEqual(problems('endpoints: [{host: a, acem: true}]'), ['perennial.yaml:1: endpoints: 0: acem: unknown; did you mean acme?']);
  assert.deepEqual(problems('endpoints: [{host: a}, {host: A}]'), ['perennial.yaml:1: endpoints: a host is listed twice']);
  for (const yaml of ['[]', '[{acme: true}]', '[{host: "a:80"}]', '[{host: a, acme: yes}]', 'a.example', '{host: a}'])
    assert.equal(problems(`endpoints: ${yaml}`).length, 1, yaml);
});

test('secrets can stand in files', () => {
  const files = { '/run/key': `${hex}\n`, '/run/password': ' with spaces \r\n', '/run/empty': '\n' };
  const read = load('', { PERENNIAL_VAULT_KEY_FILE: '/run/key', PERENNIAL_ADMIN_PASSWORD_FILE: '/run/password' }, [], files);
  assert.deepEqual(read.vaultKey, Buffer.from(hex, 'hex'));
  assert.equal(read.admin.password, ' with spaces ');
  assert.deepEqual(problems('', { PERENNIAL_VAULT_KEY_FILE: '/no' }), ['PERENNIAL_VAULT_KEY_FILE: there is no such file']);
  assert.equal(problems('', { PERENNIAL_ADMIN_PASSWORD_FILE: '/run/empty' }, [], files).length, 1);
  const both = { PERENNIAL_VAULT_KEY: hex, PERENNIAL_VAULT_KEY_FILE: '/run/key' };
  assert.deepEqual(problems('', both, [], files), ['PERENNIAL_VAULT_KEY_FILE: PERENNIAL_VAULT_KEY is set too']);
  assert.match(problems('', { PERENNIAL_NODE_FILE: '/run/key' })[0] ?? '', /^PERENNIAL_NODE_FILE: unknown/);
});

test('unknown names are refused with the nearest known one', () => {
  assert.deepEqual(problems('publicURL: x\nhttp:\n  prot: 1\nhtpp: {port: 1}', { PERENNIAL_HTTP_PROT: '1', OTHER: 'x' }), [
    'perennial.yaml:1: publicURL: unknown; did you mean publicUrl?',
    'perennial.yaml:3: http.prot: unknown; did you mean http.port?',
    'perennial.yaml:4: htpp.port: unknown; did you mean http.port?',
    'PERENNIAL_HTTP_PROT: unknown; did you mean PERENNIAL_HTTP_PORT?',
  ]);
  for (const name of ['__proto__', 'constructor', 'toString', '1', 'null']) assert.match(problems(`${name}: 1`)[0] ?? '', /unknown/, name);
  fc.assert(fc.property(fc.string(), (name) => assert.match(unknownName(name, ['a', 'bc']), /^unknown; did you mean (a|bc)\?$/)));
});

test('what Kubernetes sets for a service of this name, and what is empty, is left alone', () => {
  const kubernetes = { PERENNIAL_SERVICE_HOST: '10.0.0.1', PERENNIAL_SERVICE_PORT_HTTP: '9000', PERENNIAL_PORT: 'tcp://10.0.0.1:9000' };
  const more = {
    PERENNIAL_PORT_9000_TCP: 'tcp://10.0.0.1:9000',
    PERENNIAL_PORT_9000_TCP_ADDR: '10.0.0.1',
    PERENNIAL_HTTP_PORT: '',
    DATABASE_URL: '',
  };
  assert.deepEqual(load('http:\nnode: ~', { ...kubernetes, ...more }), load());
});

test('wrong values are all named with where they came from', () => {
  const yaml = 'http:\n  port: 70000\nlog: debug\nsession: {lifetime: 3 weeks}\nnode: 5\nnode.x: 1\nhttp.port: 9001';
  assert.deepEqual(problems(yaml, { PERENNIAL_QUERY_DEPTH_MAX: 'deep', PERENNIAL_LOG_LEVEL: 'loud' }), [
    'perennial.yaml:3: log: a group of settings, log.level',
    'perennial.yaml:6: node.x: unknown; did you mean node?',
    'perennial.yaml:7: http.port: given twice',
    'perennial.yaml:4: session.lifetime: expected a duration such as 15 minutes',
    'PERENNIAL_LOG_LEVEL: log.level: expected one of "trace"|"debug"|"info"|"warn"|"error"|"fatal"|"silent"',
    'perennial.yaml:5: node: expected string, received number',
    'PERENNIAL_QUERY_DEPTH_MAX: query.depthMax: expected number, received string',
  ]);
});

test('each kind of value has its limits', () => {
  const wrong: Readonly<Record<string, readonly string[]>> = {
    'http.port': ['-1', '65536', '1.5', '"0x10"', '" "', '[1]', 'true'],
    'http.host': ['a b', '"[::1]:80"', '10.0.0.1:80'],
    publicUrl: ['localhost:9000', 'ftp://a', 'https://a/path', 'https://u:p@a', 'https://a?x', 'https://a#x', '/x', 'https://'],
    allowedHosts: ['["a:1"]', '["*.a"]', '["http://a"]', '[""]', '{a: b}'],
    trustedProxies: ['[10.0.0.0/33]', '["::/129"]', '[a]', '[10.0.0.0/]', '[/8]', '[10.0.0/8]'],
    'session.lifetime': ['0 s', '900', '-1 day'],
    vaultKey: [`"${hex}0"`, '"0000"', `"${'A'.repeat(43)}"`],
    'events.sealSecret': ['short'],
    'database.url': ['mysql://a', 'a'],
    'database.poolSize': ['0'],
    dataDirectory: ['""'],
    'lab.enabled': ['"yes"', '1'],
    'admin.password': ['short', '12345678'],
    'query.depthMax': ['0', '33'],
  };
  for (const [key, values] of Object.entries(wrong))
    for (const value of values) assert.equal(problems(`${key}: ${value}`).length, 1, `${key}: ${value}`);
});

test('text that is no YAML is refused with its line and never repeated', () => {
  for (const yaml of [
    'node: a\nb: [s3cret',
    'b: *s3cret',
    '- s3cret',
    's3cret',
    'a: @s3cret',
    'a: 1\n---\nb: s3cret',
    'node: s3cret\nnode: s3cret',
    '"\\q s3cret": 1',
  ]) {
    const found = problems(yaml);
    assert.ok(found.length > 0, yaml);
    for (const problem of found) assert.doesNotMatch(problem, /s3cret/, yaml);
  }
  assert.match(problems('node: a\nb: [s3cret')[0] ?? '', /^perennial\.yaml:2: not YAML/);
  for (const yaml of ['', '\n', '# only words', '---', '{}']) assert.deepEqual(load(yaml), load());
});

test('no problem and no print shows a secret', () => {
  const secret = 's3cret';
  const names = ['PERENNIAL_VAULT_KEY', 'PERENNIAL_EVENTS_SEAL_SECRET', 'PERENNIAL_ADMIN_PASSWORD', 'DATABASE_URL'];
  const wrong = problems('', Object.fromEntries(names.map((name) => [name, secret])));
  assert.equal(wrong.length, names.length);
  assert.doesNotMatch(wrong.join(), /s3cret/);
  const env = {
    PERENNIAL_EVENTS_SEAL_SECRET: secret.repeat(9),
    DATABASE_URL: `postgres://u:${secret}@h/d`,
    PERENNIAL_ADMIN_PASSWORD: `${secret}12`,
  };
  const print = printSettings(inputs('', { ...env, PERENNIAL_VAULT_KEY: hex }));
  assert.doesNotMatch(print, /s3cret|0f0f/);
  assert.match(print, /^database\.url: \(hidden\) {2}# DATABASE_URL$/m);
});

test('what is printed says where it came from and can be read back', () => {
  const yaml = 'session.lifetime: 90 minutes\nnode: "a: b # c"\nallowedHosts: [a.example, b.example]\nendpoints: [{host: a, acme: true}]';
  const env = { PERENNIAL_HTTP_PORT: '8080', PERENNIAL_PUBLIC_URL: 'https://pki.example' };
  const print = printSettings(inputs(yaml, env));
  assert.match(print, /^http\.port: 8080 {2}# PERENNIAL_HTTP_PORT$/m);
  assert.match(print, /^session\.lifetime: 90 minutes {2}# perennial\.yaml:1$/m);
  assert.match(print, /^query\.depthMax: 5 {2}# default$/m);
  assert.match(print, /^vaultKey: null {2}# default$/m);
  assert.deepEqual(load(print), load(yaml, env));
});

test('the page of settings names each with its variables', () => {
  const page = describeSettings();
  for (const line of printSettings(inputs()).trim().split('\n')) {
    const key = line.slice(0, line.indexOf(':'));
    assert.ok(page.includes(`| \`${key}\` | \`${variableOf(key)}\``), key);
  }
  assert.match(page, /`PERENNIAL_DATABASE_URL` `PERENNIAL_DATABASE_URL_FILE` `DATABASE_URL`/);
  assert.match(page, /`session\.lifetime` .* `15 minutes`/);
});

test('hosts are kept in the form in which they are compared', () => {
  for (const host of load('allowedHosts: [A.example, "2001:DB8::0"]').allowedHosts) assert.equal(hostName(host), host);
});

test('the process has inputs, and a file that is not there is none', () => {
  const { readFile, hostname } = processInputs();
  assert.equal(readFile('/no/such/file'), undefined);
  assert.throws(() => readFile('/'), { code: 'EISDIR' });
  assert.ok(hostname.length > 0);
});
