/** A plug to something outside, as one value: its fields become one variant of a configuration collection, `open` makes its port of them.
 *  Which plugs there are is said by an array in `connectors/`, never by importing them. */
import { z } from 'zod';
import type { Log, Sources, Vault } from './context.ts';
import { secretShown } from './schema.ts';

/** What a connector may use of the house. */
export interface Tools extends Sources, Pick<Vault, 'signer'> {
  /** Stands before the field's name in the purpose that its secret is sealed for: `pki.connector/lab`, hence `pki.connector/lab/caKey`. */
  readonly purpose: string;
  readonly log: Log;
}

/** What it may use besides while a document is being written. */
export interface DraftTools<Stored> extends Tools {
  readonly vault: Vault;
  /** What the draft replaces. */
  readonly stored: Stored | undefined;
}

/** The fields of every connector of a collection. */
export type Named = Readonly<Record<string, unknown>> & { readonly name: string; readonly type: string };

export interface ConnectorType<Port, Draft extends Named = Named, Stored extends Named = Named> {
  readonly type: string;
  /** Of the contract; what is answered has `Response` after it. */
  readonly schemaName: string;
  /** Stand flat beside the common ones; their schemas do not transform. */
  readonly fields: z.ZodRawShape;
  /** Fields that go to the vault: `accept` seals them, answers show that they are there. */
  readonly secrets?: readonly string[];
  /** Fields that are not built: who asks for one is refused by its name. */
  readonly notYet?: readonly string[];
  /** Makes of a draft what is stored. Throws `InvalidField` for what the schema cannot say. */
  accept?(draft: Draft, tools: DraftTools<Stored>): Promise<Stored> | Stored;
  /** Everything that follows from the document alone is made here, once; connects to nothing. */
  open(stored: Stored, tools: Tools): Port;
}

/** What a `type` and its `fields` make of a document. */
export type DraftOf<Type extends string, Fields extends z.ZodRawShape> = { readonly name: string; readonly type: Type } & Readonly<
  z.output<z.ZodObject<Fields>>
>;

/** Declares a connector of one port: its type and its fields decide what `accept` gets, and what that leaves is what `open` gets. */
export const connectorFor =
  <Port>() =>
  <const Type extends string, Fields extends z.ZodRawShape, Stored extends Named>(
    definition: ConnectorType<Port, DraftOf<Type, Fields>, Stored> & {
      readonly type: Type;
      readonly fields: Fields;
      readonly secrets?: readonly (keyof Fields & string)[];
      readonly notYet?: readonly (keyof Fields & string)[];
    },
  ): ConnectorType<Port, DraftOf<Type, Fields>, Stored> =>
    definition;

/** What a draft must not hold. Its words are shown to the caller. */
export class InvalidField extends Error {
  constructor(field: string, reason: string, options?: ErrorOptions) {
    super(`${field}: ${reason}`, options);
    this.name = 'InvalidField';
  }
}

type Described = Pick<ConnectorType<unknown>, 'type' | 'schemaName' | 'fields' | 'secrets'>;

/** A document that is one of these connectors, as it comes in: told apart by `type`, as on the wire. */
export const anyOf = (base: z.ZodRawShape, types: readonly Described[]): z.ZodType<Named> =>
  union(types.map(({ type, schemaName, fields }) => variant(schemaName, { ...base, type: z.literal(type), ...fields })));

/** The same as it is answered: of a secret only that there is one. */
export const anyAnswerOf = (base: z.ZodRawShape, types: readonly Described[]): z.ZodType =>
  union(
    types.map(({ type, schemaName, fields, secrets = [] }) =>
      variant(`${schemaName}Response`, {
        ...base,
        type: z.literal(type),
        ...fields,
        ...Object.fromEntries(secrets.map((name) => [name, secretShown.optional()])),
      }),
    ),
  );

type Variant = z.ZodObject<{ type: z.ZodLiteral<string> }>;
const variant = (id: string, shape: z.ZodRawShape) => z.object(shape).meta({ id }) as unknown as Variant;
const union = ([first, ...others]: readonly Variant[]) => {
  if (!first) throw new Error('a collection of connectors has at least one type');
  return z.discriminatedUnion('type', [first, ...others]) as unknown as z.ZodType<Named>;
};
