/** The list/get/create/update/delete contract of a configuration collection, written once. A resource is a declaration. */
import { z } from 'zod';
import { type Capability, type Operation, operation } from './action.ts';
import { type Change, insert, type RowOf, remove, update } from './change.ts';
import { documentTable, type Reference, referenceTable, type Stored } from './configuration.ts';
import type { Context } from './context.ts';
import type { CollectionErrors, ErrorKind } from './errors.ts';
import type { EventCode, EventModule } from './event.ts';
import { refuseParts } from './not-yet.ts';
import { needs } from './permission.ts';
import { id as idSchema, isStorable } from './schema.ts';

export type Verb = 'list' | 'get' | 'create' | 'update' | 'delete';
type Document = Readonly<Record<string, unknown>>;

export interface CollectionSpec<I extends Document, D extends Document> {
  /** Area name of the specification, and the collection's key in the table of documents: `certificate.label`. */
  readonly tag: string;
  /** First part of the contract's operation ids: `label` gives `label.add`. */
  readonly id: string;
  readonly path: string;
  /** The field that names a document; default `name`. */
  readonly key?: string;
  /** Key of the event detail that names the document (`labelName`); default `key`. */
  readonly detail?: string;
  /** What create takes; update too, unless it has a schema of its own. */
  readonly schema: z.ZodType<I>;
  readonly updateSchema?: z.ZodType<I>;
  /** What is answered, `_id` apart; default `schema`. */
  readonly answer?: z.ZodType;
  readonly errors: CollectionErrors;
  readonly moreErrors?: Partial<Record<Verb, readonly ErrorKind[]>>;
  /** Permission path without its right; any of them suffices. */
  readonly section: readonly string[];
  /** Event codes where the collection has its own; default CONF-ADD, CONF-UPDATE, CONF-DELETE. */
  readonly audit?: { readonly module: EventModule; readonly add: EventCode; readonly update: EventCode; readonly delete: EventCode };
  readonly query?: z.ZodObject;
  readonly except?: readonly Verb[];
  /** Parts of the schema that are not built: who asks for one is refused by its name (dotted path). */
  readonly notYet?: readonly string[];
  /** What the schema cannot say: throws, or returns the document to store. `stored` is what it replaces. */
  accept?(draft: I, context: Context, stored?: D): Promise<D> | D;
  /** What callers see: secrets are hidden here. */
  present?(stored: D): Document;
  /** Which documents this one names. They must exist, and cannot be deleted before it. */
  references?(stored: D): readonly Reference[];
  /** Throws where a deletion is forbidden for another reason than a reference. */
  release?(stored: D, context: Context): Promise<void> | void;
  /** What is written together with a deletion. A referrer whose reference it removes does not stand in the way. */
  cascade?(stored: D, context: Context): Promise<readonly Change[]> | readonly Change[];
  /** Narrows the list by the query parameters; throws on bad ones. */
  filter?(query: Readonly<Record<string, string | readonly string[]>>): (stored: D) => boolean;
  readonly extras?: readonly Operation[];
}

export interface Collection {
  readonly tag: string;
  readonly key: string;
  readonly operations: readonly Operation[];
}

/** The changes that put a document in place of `before` (or nothing), its references with it. Also for documents made at the first start. */
export function writeDocument<D extends Document>(
  { tag, references }: { readonly tag: string; references?(stored: D): readonly Reference[] },
  { key, body, newId }: { readonly key: string; readonly body: D; newId(): string },
  before?: Stored<D>,
): { readonly changes: readonly Change[]; readonly stored: Stored<D> } {
  const stored: Stored<D> = { id: before?.id ?? newId(), revision: (before?.revision ?? 0) + 1, body };
  const rowsOf = (document: D) =>
    new Map(
      (references?.(document) ?? []).map((to) => [
        `${to.collection}/${to.key}`,
        { collection: tag, key, to_collection: to.collection, to_key: to.key },
      ]),
    );
  const [old, wanted] = [before ? rowsOf(before.body) : new Map<string, never>(), rowsOf(body)];
  const put = before
    ? update(documentTable, { collection: tag, key }, { body, revision: stored.revision }, { revision: before.revision })
    : insert(documentTable, { collection: tag, key, ...stored });
  return {
    stored,
    changes: [
      put,
      ...[...wanted].filter(([name]) => !old.has(name)).map(([, row]) => insert(referenceTable, row)),
      ...[...old].filter(([name]) => !wanted.has(name)).map(([, row]) => remove(referenceTable, row)),
    ],
  };
}

export function defineCollection<I extends Document, D extends Document = I>(spec: CollectionSpec<I, D>): Collection {
  const { tag, path, errors, section, key = 'name', detail = key } = spec;
  const accept = spec.accept ?? ((draft: I) => draft as unknown as D);
  const show = (stored: Stored<D>) => ({ _id: stored.id, ...(spec.present ? spec.present(stored.body) : stored.body) });
  const keyOf = (document: Document) => String(document[key]);

  const find = async (name: string, { configuration }: Context): Promise<Stored<D>> => {
    const stored = isStorable(name) ? await configuration.get<D>(tag, name) : undefined;
    if (!stored) throw errors.notFound(`'${name}' does not exist`);
    return stored;
  };
  const requireReferences = async (body: D, { configuration }: Context): Promise<void> => {
    for (const to of spec.references?.(body) ?? []) {
      if (!(await configuration.get(to.collection, to.key))) throw errors.invalid(`${to.collection} '${to.key}' does not exist`);
    }
  };
  const put = async (draft: I, context: Context, before?: Stored<D>) => {
    refuseParts(draft, spec.notYet ?? [], errors.invalid);
    const body = await accept(draft, context, before?.body);
    await requireReferences(body, context);
    const { stored, changes } = writeDocument(
      { tag, ...(spec.references ? { references: spec.references } : {}) },
      { key: keyOf(draft), body, newId: context.newId },
      before,
    );
    return { answer: show(stored), changes, details: { [detail]: keyOf(draft) } };
  };

  const shape = spec.answer ?? spec.schema;
  const answer = withId(shape);
  const audit = spec.audit ?? { module: 'configuration', add: 'CONF-ADD', update: 'CONF-UPDATE', delete: 'CONF-DELETE' };
  const common = {
    tag,
    class: 'configuration',
    capabilities: ['configuration'] satisfies Capability[],
    invalid: errors.invalid,
    unexpected: errors.internal,
  } as const;
  const extra = (verb: Verb) => spec.moreErrors?.[verb] ?? [];

  const standard: Record<Verb, Operation> = {
    list: operation({
      ...common,
      id: `${spec.id}.list`,
      method: 'GET',
      path,
      permission: 'authenticated',
      audit: 'not-audited',
      errors: [errors.internal, ...extra('list')],
      answers: { 200: z.array(answer), 204: null },
      ...(spec.query ? { query: spec.query } : {}),
      async run({ query }, { configuration, principal }) {
        const chosen = spec.filter?.(query) ?? (() => true);
        if (!needs(section, 'audit').some((value) => principal.grant(value))) return {};
        const shown = (await configuration.list<D>(tag)).filter(({ body }) => chosen(body)).map(show);
        return shown.length === 0 ? {} : { answer: shown };
      },
    }),
    get: operation({
      ...common,
      id: `${spec.id}.get`,
      method: 'GET',
      path: `${path}/:${key}`,
      permission: needs(section, 'audit'),
      audit: 'not-audited',
      errors: [errors.notFound, errors.internal, ...extra('get')],
      answers: { 200: answer },
      run: async ({ params }, context) => ({ answer: show(await find(params[key]!, context)) }),
    }),
    create: operation({
      ...common,
      id: `${spec.id}.add`,
      method: 'POST',
      path,
      permission: needs(section, 'manage'),
      audit: { code: audit.add, module: audit.module },
      body: spec.schema,
      errors: [errors.invalid, errors.exists, errors.internal, ...extra('create')],
      answers: { 201: answer },
      async run({ body }, context) {
        if (await context.configuration.get(tag, keyOf(body))) throw errors.exists(`'${keyOf(body)}' exists already`);
        return { status: 201, ...(await put(body, context)) };
      },
    }),
    update: operation({
      ...common,
      id: `${spec.id}.update`,
      method: 'PUT',
      path,
      permission: needs(section, 'manage'),
      audit: { code: audit.update, module: audit.module },
      body: spec.updateSchema ?? spec.schema,
      errors: [errors.invalid, errors.notFound, errors.internal, ...extra('update')],
      answers: { 200: answer },
      run: async ({ body }, context) => put(body, context, await find(keyOf(body), context)),
    }),
    delete: operation({
      ...common,
      id: `${spec.id}.delete`,
      method: 'DELETE',
      path: `${path}/:${key}`,
      permission: needs(section, 'manage'),
      audit: { code: audit.delete, module: audit.module },
      errors: [...(errors.referenced ? [errors.referenced] : []), errors.notFound, errors.internal, ...extra('delete')],
      answers: { 204: null },
      async run({ params }, context) {
        const name = params[key]!;
        const { body, revision } = await find(name, context);
        await spec.release?.(body, context);
        const cascade = (await spec.cascade?.(body, context)) ?? [];
        const released = new Set(cascade.flatMap((change) => releasedBy(change, { collection: tag, key: name })));
        const referrers = (await context.configuration.referrers(tag, name)).filter((referrer) => !released.has(referrer));
        if (referrers.length > 0) throw (errors.referenced ?? errors.invalid)(`'${name}' is used by ${referrers.slice(0, 10).join(', ')}`);
        return { changes: [...cascade, remove(documentTable, { collection: tag, key: name }, { revision })], details: { [detail]: name } };
      },
    }),
  };

  const offered = (Object.keys(standard) as Verb[]).filter((verb) => !spec.except?.includes(verb));
  return { tag, key, operations: [...offered.map((verb) => standard[verb]), ...(spec.extras ?? [])] };
}

/** Who no longer refers to the document once this change is written, as `collection/key`. */
function releasedBy(change: Change, to: Reference): readonly string[] {
  if (change.op !== 'remove' || change.table.name !== referenceTable.name) return [];
  const { collection, key, to_collection, to_key } = change.key as RowOf<typeof referenceTable.columns>;
  return to_collection === to.collection && to_key === to.key ? [`${collection}/${key}`] : [];
}

/** Adds `_id` to an object schema, or to each member of a union of them; what is named `Label` is answered as `LabelResponse`. */
function withId(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const options = schema.options.map((option) => withId(option as z.ZodType)) as unknown as [z.ZodObject];
    return z.discriminatedUnion(schema.def.discriminator, options);
  }
  if (!(schema instanceof z.ZodObject)) throw new Error('a collection answers an object, or one of several told apart by a field');
  const answer = z.object({ _id: idSchema, ...schema.shape });
  const name = schema.meta()?.id;
  return name ? answer.meta({ id: `${name.replace(/Response$/, '')}Response` }) : answer;
}
