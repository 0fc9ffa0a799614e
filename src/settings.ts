/**
 * The settings: one table, filled from defaults, the settings file and the environment; what comes later wins.
 * The only reader of the environment and of the settings file. What a setting does is decided where it is used.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { stringify } from 'yaml';
import { z } from 'zod';
import { hostName } from './http/hosts.ts';
import { type Capability, capabilities } from './kernel/action.ts';
import { formatDuration, parseDuration } from './lib/duration.ts';
import { type Given, givenSettings, type SettingsInputs, unknownName, variableOf } from './settings-sources.ts';

/** Everything that is wrong with the settings, each problem with the place it came from. Names no secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(['The settings are wrong:', ...problems].join('\n  '));
    this.problems = problems;
  }
}

type Values = ReadonlyMap<string, unknown>;

/** A default that depends on the settings above it in the table. */
interface Derived {
  readonly words: string;
  readonly from: (values: Values, inputs: SettingsInputs) => unknown;
}

interface Row {
  /** Takes what YAML gives and what a variable can say, which is text. */
  readonly schema: z.ZodType;
  /** As somebody would write it. Without it the setting may be absent. */
  readonly default?: unknown;
  readonly derived?: Derived;
  readonly secret?: true;
  /** A variable of another name that sets it too. */
  readonly also?: string;
  /** How to write what the schema made of it, where that differs. */
  readonly show?: (value: never) => unknown;
  readonly doc: string;
}

// Schemas of values

const fromText = <S extends z.ZodType>(read: (text: string) => unknown, schema: S) =>
  z.preprocess((value) => (typeof value === 'string' ? read(value) : value), schema);
const whole = (min: number, max: number) =>
  fromText((text) => (/^[0-9]{1,15}$/.test(text) ? Number(text) : text), z.int().min(min).max(max));
const truth: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const flag = fromText((text) => truth.get(text) ?? text, z.boolean());
const text = z.string().min(1);
const words = (line: string): readonly string[] => line.split(',').flatMap((word) => word.trim() || []);
const list = <S extends z.ZodType>(item: S) => fromText(words, z.array(item).readonly());

/** Text that `read` understands; undefined = it does not. */
const readBy = <T>(read: (text: string) => T | undefined, expected: string) =>
  z.string().transform((value, context) => {
    const result = read(value);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: `expected ${expected}` });
    return z.NEVER;
  });
const only = (holds: (text: string) => boolean) => (value: string) => (holds(value) ? value : undefined);

const origin = (value: string): string | undefined => {
  const url = URL.parse(value);
  const isPlain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    `${url.username}${url.password}${url.search}${url.hash}` === '';
  return isPlain ? url.origin : undefined;
};
const isNetwork = (value: string): boolean => {
  const [, address = '', bits] = /^([^/]*)(?:\/([0-9]{1,3}))?$/.exec(value) ?? [];
  return isIP(address) !== 0 && Number(bits ?? 0) <= (isIP(address) === 4 ? 32 : 128);
};
const keyOf32Bytes = (value: string): Uint8Array | undefined => {
  if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex');
  return /^[A-Za-z0-9+/]{43}=$/.test(value) ? Buffer.from(value, 'base64') : undefined;
};
const jsonOr = (value: string): unknown => {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const port = whole(0, 65_535);
const host = readBy(hostName, 'a host name or address without port');
const listenAddress = readBy(
  only((value) => isIP(value) !== 0 || hostName(value) === value),
  'an address or host name to listen on',
);
const network = readBy(only(isNetwork), 'an address or a network such as 10.0.0.0/8');
const flags = Object.fromEntries(capabilities.map((name) => [name, flag.default(false)])) as Record<Capability, z.ZodDefault<typeof flag>>;
const endpoints = fromText(
  jsonOr,
  z
    .array(z.strictObject({ host, ...flags }).readonly())
    .min(1)
    .refine((all) => new Set(all.map((one) => one.host)).size === all.length, 'a host is listed twice')
    .readonly(),
);

const table = {
  'http.host': { schema: listenAddress, default: '127.0.0.1', doc: 'Address to listen on; `0.0.0.0` or `::` for all.' },
  'http.port': { schema: port, default: 9000, doc: 'Port to listen on; 0 takes any free one.' },
  publicUrl: {
    schema: readBy(origin, 'an http or https address without path'),
    derived: { words: '`http://localhost:` and the port', from: (values) => `http://localhost:${values.get('http.port')}` },
    doc: 'The address that others reach the service at. Links in answers and certificates are built on it.',
  },
  allowedHosts: { schema: list(host), default: [], doc: 'Further host names that reach every endpoint. Ignored when `endpoints` is set.' },
  endpoints: {
    schema: endpoints,
    doc: `The hosts that are served, each with the groups of endpoints it reaches: \`{host, ${capabilities.join(', ')}}\`, each false by default. As a variable: JSON.`,
  },
  trustedProxies: { schema: list(network), default: [], doc: 'Addresses or networks of proxies whose forwarding headers are believed.' },
  'session.lifetime': {
    schema: readBy(parseDuration, 'a duration such as 15 minutes').refine((ms) => ms > 0, 'expected a duration above zero'),
    default: '15 minutes',
    show: formatDuration,
    doc: 'How long a session lasts.',
  },
  vaultKey: {
    schema: readBy(keyOf32Bytes, '32 bytes as 64 hexadecimal characters or as base64'),
    secret: true,
    doc: 'Encrypts secrets and private keys at rest: 32 bytes, hexadecimal or base64. Made at the first start with the embedded database, demanded with any other.',
  },
  'events.sealSecret': {
    schema: z.string().min(32),
    secret: true,
    doc: 'Seals the audit events; at least 32 characters. Derived from the vault key when absent.',
  },
  'database.url': {
    schema: readBy(
      only((value) => /^postgres(ql)?:\/\//.test(value)),
      'an address that begins with postgresql://',
    ),
    secret: true,
    also: 'DATABASE_URL',
    doc: 'PostgreSQL to use. When absent the embedded one is started.',
  },
  'database.poolSize': { schema: whole(1, 1_000), default: 8, doc: 'Connections to the database.' },
  dataDirectory: { schema: text, default: '.perennial', doc: 'Where the embedded database and the generated keys stand.' },
  'lab.enabled': {
    schema: flag,
    derived: { words: 'true with the embedded database', from: (values) => values.get('database.url') === undefined },
    doc: 'Whether a laboratory authority and a profile to try it are made at the first start.',
  },
  'admin.password': {
    schema: z.string().min(8),
    secret: true,
    doc: 'Password of the administrator made at the first start; at least 8 characters. When absent one is made and printed.',
  },
  'management.host': { schema: listenAddress, default: '127.0.0.1', doc: 'Address of the management listener, which asks for no login.' },
  'management.port': { schema: port, default: 9095, doc: 'Port of the management listener: `/live`, `/ready`, `/metrics`.' },
  'log.level': {
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    doc: 'The least important messages that are logged: trace, debug, info, warn, error, fatal or silent.',
  },
  node: {
    schema: text.max(255),
    derived: { words: 'the name of the machine', from: (_, inputs) => inputs.hostname },
    doc: 'Name of this process in events.',
  },
  'limits.bodyBytes': { schema: whole(1_024, 1_073_741_824), default: 10_485_760, doc: 'The largest request body, in bytes.' },
  'query.depthMax': { schema: whole(1, 32), default: 5, doc: 'How deep a search query may be nested.' },
} as const satisfies Readonly<Record<string, Row>>;

type Table = typeof table;
type Output<R extends Row> = z.output<R['schema']> | (R extends { default: unknown } | { derived: unknown } ? never : undefined);
type Flat = { readonly [K in keyof Table]: Output<Table[K]> };
type Nested<T> = {
  readonly [K in keyof T as K extends `${infer Group}.${string}` ? Group : K]: K extends `${infer Group}.${string}`
    ? { readonly [P in keyof T as P extends `${Group}.${infer Name}` ? Name : never]: T[P] }
    : T[K];
};

/** Durations are milliseconds here, keys bytes. Frozen. */
export type Settings = Nested<Flat>;

const known: Readonly<Record<string, Row>> = table;
const rows = Object.entries(known);

/** The real inputs of this process. */
export const processInputs = (): SettingsInputs => ({
  argv: process.argv.slice(2),
  env: process.env,
  readFile: (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  },
  hostname: hostname(),
});

const issueWords = (issue: z.core.$ZodIssue): string => {
  const place = issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
  const words =
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${key}: ${unknownName(key, ['host', ...capabilities])}`).join(', ')
      : issue.message;
  return place + words.replace(/^Invalid (input|option): /, '');
};

interface Resolved {
  readonly values: Values;
  readonly given: ReadonlyMap<string, Given>;
}

const resolve = (inputs: SettingsInputs): Resolved => {
  const problems: string[] = [];
  const given = givenSettings(known, inputs, (problem) => problems.push(problem));
  const values = new Map<string, unknown>();
  for (const [key, row] of rows) {
    const found = given.get(key);
    const parsed = found && row.schema.safeParse(found.value);
    if (parsed?.error) problems.push(...parsed.error.issues.map((issue) => `${found?.from}: ${key}: ${issueWords(issue)}`));
    // After a problem the default stands in, so that one mistake is told once.
    values.set(key, parsed?.success ? parsed.data : row.schema.optional().parse(row.derived?.from(values, inputs) ?? row.default));
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return { values, given };
};

const nested = (values: Values): Settings => {
  const settings: Record<string, unknown> = {};
  for (const [key, value] of values) {
    const [group = key, name] = key.split('.');
    settings[group] = name === undefined ? value : { ...(settings[group] as object), [name]: value };
  }
  for (const group of Object.values(settings)) if (!ArrayBuffer.isView(group)) Object.freeze(group);
  return Object.freeze(settings) as Settings;
};

/** Throws SettingsError with all problems at once. */
export const loadSettings = (inputs: SettingsInputs): Settings => nested(resolve(inputs).values);

const yamlOf = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();

const shown = (row: Row, value: unknown): string => {
  if (value === undefined) return 'null';
  return row.secret ? '(hidden)' : yamlOf(row.show ? row.show(value as never) : value);
};

/** For `--print-settings`: a line a setting, with where it came from and without secrets; a settings file where none is hidden. Throws SettingsError. */
export const printSettings = (inputs: SettingsInputs): string => {
  const { values, given } = resolve(inputs);
  return rows.map(([key, row]) => `${key}: ${shown(row, values.get(key))}  # ${given.get(key)?.from ?? 'default'}\n`).join('');
};

const variablesOf = (key: string, row: Row): string =>
  [variableOf(key), ...(row.secret ? [`${variableOf(key)}_FILE`] : []), ...(row.also ? [row.also] : [])]
    .map((name) => `\`${name}\``)
    .join(' ');

const defaultOf = (row: Row): string => row.derived?.words ?? (row.default === undefined ? 'absent' : `\`${yamlOf(row.default)}\``);

/** The table as Markdown, for the operating guide. */
export const describeSettings = (): string => {
  const lines = rows.map(([key, row]) => `| \`${key}\` | ${variablesOf(key, row)} | ${defaultOf(row)} | ${row.doc} |`);
  return ['| Setting | Variable | Default | |', '|---|---|---|---|', ...lines, ''].join('\n');
};
