/** An action is a plain value: who may do it, what it records, what it does. An operation is an action with an address in the JSON API. */
import type { z } from 'zod';
import type { Change } from './change.ts';
import type { Context } from './context.ts';
import type { ErrorKind, ServiceError, Thrower } from './errors.ts';
import type { Audit, EventDetails } from './event.ts';

export const capabilities = ['configuration', 'events', 'discovery', 'webra', 'wcce', 'acme', 'est', 'scep', 'scim', 'mdm', 'dcv'] as const;
export type Capability = (typeof capabilities)[number];

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Decides which status an authentication error has (wire.md 0.3). */
export type OperationClass = 'configuration' | 'lifecycle' | 'dcv' | 'open';

/** `by-object`: `run` asks for the right on the object that it finds. `internal`: reached from another action or a job, never from outside.
 *  A list names permissions of which one suffices. */
export type Requirement = 'public' | 'authenticated' | 'by-object' | 'internal' | readonly string[];

export interface Input<B> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly body: B;
}

/** What an action decided. Its changes and its event are committed together, then `next` is performed, then the answer is given. */
export interface Outcome {
  /** Default 200; 204 without an answer. */
  readonly status?: number;
  readonly answer?: unknown;
  /** Media type of the answer when it is not JSON; the answer is then text or bytes. */
  readonly mediaType?: string;
  readonly changes?: readonly Change[];
  readonly details?: EventDetails;
  /** Nothing is written and nothing follows: changes, event and `next` are dropped. */
  readonly dryRun?: boolean;
  /** What happened is recorded as a failure, and this is what the caller is told. */
  readonly failure?: ServiceError;
  /** What calls out once the intent is durable. Its outcome is the answer. */
  readonly next?: Step<never>;
}
export interface Step<B> {
  readonly action: Action<B>;
  readonly body: B;
}
/** Checks that action and body fit each other, then forgets which they were. */
export const step = <B>(action: Action<B>, body: B): Step<never> => ({ action, body }) as unknown as Step<never>;

export interface Action<B = never> {
  /** The contract's operation id with dots: `label.add`. */
  readonly id: string;
  readonly permission: Requirement;
  readonly class: OperationClass;
  /** The event that stands for success and for refusal. Reading is `not-audited`. */
  readonly audit: Audit | 'not-audited';
  readonly body?: z.ZodType<B>;
  /** What a body is answered that the schema refuses. */
  readonly invalid: Thrower;
  /** What the caller is told of a bug. */
  readonly unexpected: Thrower;
  readonly errors: readonly ErrorKind[];
  /** Reads and decides; writes nothing. */
  run(input: Input<B>, context: Context): Promise<Outcome>;
  /** Of an action whose run calls out, which is never repeated: what the caller is answered when somebody else has done it meanwhile; nothing of
   *  that is written. Any other action that loses a condition of its commit is run again on what is true by then, and refuses by itself what
   *  has become impossible. */
  overtaken?(input: Input<B>, context: Context): Promise<Outcome>;
}

export interface Operation<B = never> extends Action<B> {
  /** Area name of the specification: `certificate.label`. */
  readonly tag: string;
  readonly method: Method;
  /** With `:name` parameters, without a trailing slash. */
  readonly path: string;
  /** `id` takes 24 hexadecimal characters alone, `rest` whatever follows, slashes included. */
  readonly match?: Readonly<Record<string, 'id' | 'rest'>>;
  readonly capabilities: readonly Capability[];
  readonly query?: z.ZodObject;
  /** Success statuses and what they carry; null = no body, a string = text of that media type. */
  readonly answers: Readonly<Record<number, z.ZodType | string | null>>;
}

/** An action or operation of any body, as lists hold them. */
export const anyAction = <B>(definition: Action<B>): Action => definition as unknown as Action;
export const operation = <B>(definition: Operation<B>): Operation => definition as unknown as Operation;

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly mediaType?: string;
}
