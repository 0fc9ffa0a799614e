/** SQL as fragments: values are always bound, fragments nest, and placeholders are numbered once, at the end. */

const brand = Symbol('sql');

/** `texts` has one element more than `values`: a value stands between each two. Made by `sql` and `identifier` alone. */
export interface Sql {
  readonly [brand]: true;
  readonly texts: readonly string[];
  readonly values: readonly Value[];
}

export type Value = string | number | boolean | null | readonly string[] | readonly number[];

/** What the driver takes. */
export interface Statement {
  readonly text: string;
  readonly values: Value[];
}

/** sql`a = ${value} and ${fragment}`: binds values, splices fragments. */
export function sql(template: TemplateStringsArray, ...parts: readonly (Value | Sql)[]): Sql {
  const texts = [template[0]!];
  const values: Value[] = [];
  for (const [index, part] of parts.entries()) {
    if (isSql(part)) append(texts, values, part);
    else {
      values.push(part);
      texts.push('');
    }
    texts[texts.length - 1] += template[index + 1]!;
  }
  return { [brand]: true, texts, values };
}

/** The brand is a symbol, so that nothing parsed from JSON passes for a fragment. */
function isSql(part: Value | Sql): part is Sql {
  return typeof part === 'object' && part !== null && brand in part;
}

function append(texts: string[], values: Value[], fragment: Sql): void {
  texts[texts.length - 1] += fragment.texts[0]!;
  for (const text of fragment.texts.slice(1)) texts.push(text);
  for (const value of fragment.values) values.push(value);
}

/** A table or column named in code: lower case, digits and underscores, perhaps with a schema or alias before a dot. */
export function identifier(name: string): Sql {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(name)) throw new TypeError(`not an identifier: ${name}`);
  return { [brand]: true, texts: [name.replaceAll(/[^.]+/g, '"$&"')], values: [] };
}

/** Fragments with another between each two. */
export function join(fragments: readonly Sql[], separator: Sql): Sql {
  const texts = [''];
  const values: Value[] = [];
  for (const [index, fragment] of fragments.entries()) {
    if (index > 0) append(texts, values, separator);
    append(texts, values, fragment);
  }
  return { [brand]: true, texts, values };
}

export function statement({ texts, values }: Sql): Statement {
  const text = texts.reduce((before, after, index) => `${before}$${index}${after}`);
  return { text, values: [...values] };
}
