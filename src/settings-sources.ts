/**
 * Where settings are given: the settings file (YAML) and PERENNIAL_… variables. Knows their names, not what their values mean.
 * Pure: files and variables are handed in. Invariant: no problem repeats a value, for it may be a secret.
 */
import { parseArgs } from 'node:util';
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, type YAMLMap } from 'yaml';

/** All that settings are made from, so that a test can hand in its own. */
export interface SettingsInputs {
  /** Without the program: `process.argv.slice(2)`. Only `--settings FILE` is looked at. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Undefined when there is no such file; throws when it cannot be read. */
  readonly readFile: (path: string) => string | undefined;
  /** Name of this machine. */
  readonly hostname: string;
}

/** What is known of a setting here. Secrets may be given by `…_FILE` variables; `also` is a variable of another name. */
interface Known {
  readonly secret?: true;
  readonly also?: string;
}
type KnownSettings = Readonly<Record<string, Known>>;

export interface Given {
  readonly value: unknown;
  /** `perennial.yaml:3` or the name of a variable. */
  readonly from: string;
}
type Entry = readonly [key: string, given: Given];
type Report = (problem: string) => void;

const prefix = 'PERENNIAL_';
const fileVariable = `${prefix}SETTINGS`;
const defaultFile = 'perennial.yaml';

// Kubernetes gives them to every container beside a Service named `perennial`.
const ofKubernetes = /^PERENNIAL_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** `limits.bodyBytes` → `PERENNIAL_LIMITS_BODY_BYTES`. */
export const variableOf = (key: string): string => prefix + key.replaceAll(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase();

/** Levenshtein's: letters to change, add or drop. */
const distance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...a].entries()) {
    const next = [at + 1];
    for (let column = 0; column < b.length; column++)
      next.push(Math.min(previous[column + 1]! + 1, next[column]! + 1, previous[column]! + (letter === b[column] ? 0 : 1)));
    previous = next;
  }
  return previous.at(-1)!;
};

/** The words for a name that is none of the known ones, with the nearest of them. */
export const unknownName = (name: string, known: Iterable<string>): string => {
  const ranked = Array.from(known, (one) => ({ one, far: distance(name.slice(0, 100), one) })).sort((a, b) => a.far - b.far);
  return `unknown; did you mean ${ranked[0]?.one}?`;
};

const missing = 'there is no such file';

const readText = (inputs: SettingsInputs, path: string): { readonly text?: string; readonly problem?: string } => {
  try {
    const text = inputs.readFile(path);
    return text === undefined ? { problem: missing } : { text };
  } catch (error) {
    return { problem: `the file cannot be read (${error instanceof Error && 'code' in error ? error.code : 'unknown reason'})` };
  }
};

/** The file that was asked for; undefined = nobody did. */
const namedFile = (inputs: SettingsInputs, report: Report): string | undefined => {
  const { settings } = parseArgs({ args: [...inputs.argv], options: { settings: { type: 'string' } }, strict: false }).values;
  if (settings === true || settings === '') report('--settings: the name of a file is missing');
  return (typeof settings === 'string' && settings) || inputs.env[fileVariable] || undefined;
};

/** Every value of the map with its path; `http: {port: 1}` and `http.port: 1` say the same. */
const leaves = (
  map: YAMLMap,
  path: string,
  known: KnownSettings,
  leaf: (key: string, node: unknown, at: number) => Entry,
): readonly Entry[] =>
  map.items.flatMap(({ key: name, value }) => {
    const key = path + String(isScalar(name) ? name.value : name);
    if (isMap(value) && value.items.length > 0 && !Object.hasOwn(known, key)) return leaves(value, `${key}.`, known, leaf);
    return [leaf(key, value, (isNode(name) && name.range?.[0]) || 0)];
  });

const parseYaml = (text: string, file: string, known: KnownSettings, report: Report): readonly Entry[] => {
  const lineCounter = new LineCounter();
  const document: Document = parseDocument(text, { lineCounter, prettyErrors: false });
  const at = (offset: number): string => `${file}:${lineCounter.linePos(offset).line}`;
  // The library's own words may quote the text.
  for (const { code, pos } of document.errors) report(`${at(pos[0])}: not YAML (${code.toLowerCase().replaceAll('_', ' ')})`);
  const { contents } = document;
  if (document.errors.length > 0 || contents === null || (isScalar(contents) && contents.value === null)) return [];
  if (!isMap(contents)) {
    report(`${file}: settings and their values are expected`);
    return [];
  }
  try {
    return leaves(contents, '', known, (key, node, offset) => [
      key,
      { value: isNode(node) ? node.toJS(document) : node, from: at(offset) },
    ]);
  } catch {
    report(`${file}: not YAML (an alias that cannot be followed)`);
    return [];
  }
};

const fromFile = (known: KnownSettings, inputs: SettingsInputs, report: Report): readonly Entry[] => {
  const named = namedFile(inputs, report);
  const file = named ?? defaultFile;
  const { text = '', problem } = readText(inputs, file);
  if (problem !== undefined && (named !== undefined || problem !== missing)) report(`${file}: ${problem}`);
  const seen = new Set<string>();
  return parseYaml(text, file, known, report).filter(([key, { value, from }]) => {
    const members = Object.keys(known).filter((one) => one.startsWith(`${key}.`));
    const isKnown = Object.hasOwn(known, key);
    if (members.length > 0 && value !== null) report(`${from}: ${key}: a group of settings, ${members.join(', ')}`);
    if (members.length === 0 && !isKnown) report(`${from}: ${key}: ${unknownName(key, Object.keys(known))}`);
    if (seen.has(key)) report(`${from}: ${key}: given twice`);
    seen.add(key);
    return isKnown && value !== null;
  });
};

interface Variable {
  readonly key: string;
  readonly isFile: boolean;
}

/** By name, in the order in which later ones win. */
const variables = (known: KnownSettings): ReadonlyMap<string, Variable> =>
  new Map(
    Object.entries(known).flatMap(([key, { also, secret }]) => {
      const names: (readonly [string, Variable])[] = [[variableOf(key), { key, isFile: false }]];
      if (also !== undefined) names.unshift([also, { key, isFile: false }]);
      if (secret) names.push([`${variableOf(key)}_FILE`, { key, isFile: true }]);
      return names;
    }),
  );

/** An empty variable is none: that is how container tools write one that is not set. */
const fromVariables = (known: KnownSettings, { env, ...inputs }: SettingsInputs, report: Report): readonly Entry[] => {
  const names = variables(known);
  for (const name of Object.keys(env))
    if (name.startsWith(prefix) && !names.has(name) && name !== fileVariable && !ofKubernetes.test(name))
      report(`${name}: ${unknownName(name, names.keys())}`);
  return [...names].flatMap(([name, { key, isFile }]): readonly Entry[] => {
    const said = env[name];
    if (!said) return [];
    if (!isFile) return [[key, { value: said, from: name }]];
    if (env[variableOf(key)]) report(`${name}: ${variableOf(key)} is set too`);
    const { text, problem } = readText({ env, ...inputs }, said);
    if (problem !== undefined) report(`${name}: ${problem}`);
    return text === undefined ? [] : [[key, { value: text.replace(/\r?\n$/, ''), from: name }]];
  });
};

/** What was given, by key. Names that nobody knows and files that cannot be read are reported. */
export const givenSettings = (known: KnownSettings, inputs: SettingsInputs, report: Report): ReadonlyMap<string, Given> =>
  new Map([...fromFile(known, inputs, report), ...fromVariables(known, inputs, report)]);
