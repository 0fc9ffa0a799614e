/** PKI connectors: which authority issues, and how it is reached. What the types are is handed in; each brings its own fields. */
import { z } from 'zod';
import { type Collection, defineCollection } from '../../kernel/collection.ts';
import { anyAnswerOf, anyOf, InvalidField, type Named, type Tools } from '../../kernel/connector.ts';
import type { Context } from '../../kernel/context.ts';
import { collectionErrors } from '../../kernel/errors.ts';
import { refuseParts } from '../../kernel/not-yet.ts';
import { sections } from '../../kernel/permission.ts';
import { epochMs, names } from '../../kernel/schema.ts';
import { VaultError } from '../../vault/seal.ts';
import type { Issued, IssueOrder, PkiConnectorType, Prepared } from './pki-connector.port.ts';
import { createPlaces, type Queue, queues } from './queues.ts';

const tag = 'pki.connector';
const errors = collectionErrors('PKI-CONNECTOR', 'PKI Connector', { referenced: 400 });

const status = z
  .object({ lastCheck: epochMs, status: z.enum(['success', 'failure', 'unknown', 'running']), message: z.string().optional() })
  .meta({ id: 'PKIConnectorStatus' });

/** What every connector has, whatever its type. */
type Connector = Named & { readonly queue?: string };
const common = { name: names.dotted, queue: names.dotted.optional() };

/** A connector as its callers see it. Its orders wait in its queue: `prepare` and `issue` throw `QueueFull` besides what the port says. */
export interface OpenedConnector {
  readonly name: string;
  readonly type: string;
  probe(): Promise<void>;
  /** undefined where the certificate is made elsewhere: `issue` then needs nothing prepared. */
  prepare(order: IssueOrder): Promise<Prepared | undefined>;
  issue(order: IssueOrder, prepared?: Prepared): Promise<Issued>;
}

export interface PkiModule {
  readonly connectors: Collection;
  /** Kept until any document changes. Throws PKI-CONNECTOR-003. */
  openConnector(name: string, context: Context): Promise<OpenedConnector>;
}

/** `now` in milliseconds since 1970: a place in a queue is not kept for ever. */
export function pkiModule({ types, now }: { readonly types: readonly PkiConnectorType[]; now(): number }): PkiModule {
  const placesIn = createPlaces(now);
  const typeNamed = (name: string): PkiConnectorType => types.find(({ type }) => type === name)!;

  const connectors = defineCollection<Connector>({
    tag,
    id: 'pki.connector',
    path: '/api/v1/pki/connectors',
    detail: 'pkiConnector',
    schema: anyOf(common, types),
    answer: anyAnswerOf({ ...common, status: status.nullable().optional() }, types),
    errors,
    section: sections.connector,
    async accept(draft, context, stored) {
      if (stored && stored.type !== draft.type) throw errors.invalid(`type: '${draft.name}' is of type ${stored.type} and stays so`);
      const type = typeNamed(draft.type);
      refuseParts(draft, type.notYet ?? [], errors.invalid);
      if (!type.accept) return draft;
      return asProblem(() => type.accept!(draft, { ...toolsOf(draft.name, context), vault: context.vault, stored }));
    },
    present(stored) {
      const { secrets = [] } = typeNamed(stored.type);
      return {
        ...stored,
        ...Object.fromEntries(secrets.filter((field) => stored[field] !== undefined).map((field) => [field, { value: null }])),
      };
    },
    references: ({ queue }) => (queue === undefined ? [] : [{ collection: queues.tag, key: queue }]),
  });

  async function open(name: string, context: Context): Promise<OpenedConnector> {
    const stored = await context.configuration.get<Connector>(tag, name);
    if (!stored) throw errors.notFound(`'${name}' does not exist`);
    const { type, queue } = stored.body;
    const port = typeNamed(type).open(stored.body, toolsOf(name, context));
    const found = queue === undefined ? undefined : await context.configuration.get<Queue>(queues.tag, queue);
    const { first, last } = placesIn(found?.body);
    return {
      name,
      type,
      probe: () => port.probe(),
      prepare: async (order) => port.prepare && first(order.id, () => port.prepare!(order)),
      issue: (order, prepared) => last(order.id, () => port.issue(order, prepared)),
    };
  }

  return { connectors, openConnector: (name, context) => context.configuration.memo(`${tag} ${name}`, () => open(name, context)) };
}

const toolsOf = (name: string, { now, random, vault, log }: Context): Tools => ({
  now,
  random,
  log,
  signer: (sealed, purpose) => vault.signer(sealed, purpose),
  purpose: `${tag}/${name}`,
});

async function asProblem<T>(work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidField || error instanceof VaultError) throw errors.invalid(error.message, { cause: error });
    throw error;
  }
}
