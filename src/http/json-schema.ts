/** Zod schemas as the JSON schemas of the API description: one name for each schema that has an id, in the form that goes in or comes out. */
import { z } from 'zod';

export type JsonSchema = { readonly [keyword: string]: unknown };

/** A schema that goes in says what is accepted, one that goes out what is sent: defaults are optional in, always there out. */
type Form = 'input' | 'output';

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value);
const inner = (value: unknown, change: (schema: JsonSchema) => JsonSchema): unknown => (isSchema(value) ? mapSchema(value, change) : value);

const single = new Set(['items', 'additionalProperties', 'not', 'contains']);
const several = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const keyed = new Set(['properties', 'patternProperties']);

/** Applies `change` to a schema and everything in it, from the inside out. */
export function mapSchema(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const entries = Object.entries(schema).map(([keyword, value]) => {
    if (single.has(keyword)) return [keyword, inner(value, change)];
    if (several.has(keyword)) return [keyword, (value as unknown[]).map((member) => inner(member, change))];
    if (keyed.has(keyword))
      return [keyword, Object.fromEntries(Object.entries(value as object).map(([name, member]) => [name, inner(member, change)]))];
    return [keyword, value];
  });
  return change(Object.fromEntries(entries));
}

/** Collects what schemas are called while a document is made of them. References stay provisional until `named` has seen the whole document. */
export function createComponents() {
  const forms = { input: new Map<string, JsonSchema>(), output: new Map<string, JsonSchema>() };

  const convert = (schema: z.ZodType, form: Form): JsonSchema => {
    // Inside an array a schema with an id is a reference like any other.
    const { items, $defs = {} } = z.toJSONSchema(z.array(schema), {
      io: form,
      override: (place) => adjust(place.zodSchema as z.core.$ZodTypes, place.jsonSchema),
    });
    const finish = (raw: unknown): JsonSchema =>
      provisional(form === 'input' ? mapSchema(raw as JsonSchema, acceptNulls) : (raw as JsonSchema), form);
    for (const [name, raw] of Object.entries($defs)) {
      const made = finish(raw);
      const known = forms[form].get(name);
      if (known && !same(known, made)) throw new Error(`two schemas are called '${name}'`);
      forms[form].set(name, made);
    }
    return finish(items);
  };

  return {
    request: (schema: z.ZodType): JsonSchema => convert(schema, 'input'),
    answer: (schema: z.ZodType): JsonSchema => convert(schema, 'output'),
    /** The document with final references, and the schemas that they name. What has one form has one name; else what goes out is called `…Response`. */
    named<D>(document: D): { readonly document: D; readonly schemas: Readonly<Record<string, JsonSchema>> } {
      const split = splitNames(forms);
      const nameOf = (form: Form, name: string) => (form === 'output' && split.has(name) ? `${name}Response` : name);
      const resolve = <T>(value: T): T =>
        mapText(value, (text) =>
          text.replace(reference, (_, form: Form, name: string) => `#/components/schemas/${nameOf(form, name)}`),
        ) as T;
      const schemas = new Map<string, JsonSchema>();
      for (const form of ['input', 'output'] as const) {
        for (const [name, schema] of forms[form]) {
          const [final, made] = [nameOf(form, name), resolve(schema)];
          const known = schemas.get(final);
          if (known && !same(known, made)) throw new Error(`two schemas are called '${final}'`);
          schemas.set(final, made);
        }
      }
      return { document: resolve(document), schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) };
    },
  };
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const reference = /^#\/(input|output)\/(.+)$/;
const provisional = (schema: JsonSchema, form: Form): JsonSchema =>
  mapText(schema, (text) => text.replace(/^#\/\$defs\/(.+)$/, `#/${form}/$1`)) as JsonSchema;

function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((member) => mapText(member, change));
  return isSchema(value) ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapText(member, change)])) : value;
}

/** Names whose two forms differ, in themselves or in what they refer to. */
function splitNames({ input, output }: Readonly<Record<Form, ReadonlyMap<string, JsonSchema>>>): ReadonlySet<string> {
  const both = [...input.keys()].filter((name) => output.has(name));
  const plain = (schema: JsonSchema | undefined) => JSON.stringify(mapText(schema, (text) => text.replace(reference, '#$2')));
  const split = new Set(both.filter((name) => plain(input.get(name)) !== plain(output.get(name))));
  const touched = (name: string) => [...split].some((other) => JSON.stringify(input.get(name)).includes(`"#/input/${other}"`));
  for (let before = -1; before !== split.size; ) {
    before = split.size;
    for (const name of both) if (touched(name)) split.add(name);
  }
  return split;
}

/** Answers may grow, so objects are not described as closed unless they were declared so; what tells the members of a union apart is named;
 *  the limits of a double's integers say nothing. */
function adjust({ _zod: { def } }: z.core.$ZodTypes, json: z.core.JSONSchema.BaseSchema): void {
  if (def.type === 'object' && !def.catchall) delete json.additionalProperties;
  if (def.type === 'readonly') delete json.readOnly;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (def.type === 'union' && 'discriminator' in def) {
    const mapping = def.options.flatMap((option, i) => {
      const target = (json.oneOf ?? json.anyOf)?.[i]?.$ref;
      const values = option._zod.propValues?.[String(def.discriminator)] ?? [];
      return target ? [...values].map((value) => [String(value), target] as const) : [];
    });
    if (new Set(mapping.map(([, target]) => target)).size === def.options.length)
      json['discriminator'] = { propertyName: def.discriminator, mapping: Object.fromEntries(mapping) };
  }
}

/** Null on input is absence, so whatever may be left out may be null. */
function acceptNulls(schema: JsonSchema): JsonSchema {
  const { properties, required = [], additionalProperties } = schema;
  const optional = (name: string) => !(required as readonly string[]).includes(name);
  return {
    ...schema,
    ...(isSchema(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, value]) => [name, optional(name) ? nullable(value as JsonSchema) : value]),
          ),
        }
      : {}),
    ...(isSchema(additionalProperties) ? { additionalProperties: nullable(additionalProperties) } : {}),
  };
}

function nullable(schema: JsonSchema): JsonSchema {
  const { type, const: value, anyOf, ...rest } = schema;
  if (Array.isArray(anyOf)) return anyOf.some(takesNull) ? schema : { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  if (Object.keys(schema).length === 0 || takesNull(schema)) return schema;
  if (type === undefined) return { anyOf: [schema, { type: 'null' }] };
  const values = 'const' in schema ? [value] : (rest['enum'] as unknown[] | undefined);
  return { ...rest, type: [type, 'null'].flat(), ...(values ? { enum: [...values, null] } : {}) };
}

const takesNull = ({ type }: JsonSchema): boolean => [type].flat().includes('null');
