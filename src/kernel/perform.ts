/** The one way anything happens here: permit, validate, run, commit with its event, follow up, reply. */
import type { Action, Input, OperationClass, Outcome, Reply } from './action.ts';
import { type Change, type Commit, Conflict } from './change.ts';
import type { Context } from './context.ts';
import { authErrors, type ErrorKind, isOutage, permissionErrors, routeErrors, ServiceError } from './errors.ts';
import type { EventDraft } from './event.ts';
import { isStorable } from './schema.ts';

/** The audit trail as `perform` needs it. */
export interface Trail {
  /** The change that appends the event. */
  append(event: EventDraft, context: Context): Change;
  /** Whether another refusal of this kind by this caller is still recorded one by one. */
  admits(event: EventDraft, context: Context): boolean;
}

/** A body that could not be read at all: refused as invalid, once it is known that the caller may ask. */
export class Malformed {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

export interface Performer {
  perform<B>(action: Action<B>, input: Input<unknown>, context: Context): Promise<Reply>;
  /** Records what is no action: a login, a start. Throws when it cannot be written; a failure past the cap is only counted. */
  note(event: EventDraft, context: Context): Promise<void>;
}

const attemptsMax = 5;

export function createPerformer(commit: Commit, trail: Trail): Performer {
  async function perform<B>(action: Action<B>, input: Input<unknown>, context: Context): Promise<Reply> {
    return withRefusals(action, context, async () => {
      permit(action, context);
      return carryOut(action, { ...input, body: parse(action, input.body) }, context);
    });
  }

  async function carryOut<B>(action: Action<B>, input: Input<B>, context: Context, attempt = 1): Promise<Reply> {
    const outcome = await action.run(input, context);
    if (outcome.dryRun) return reply(outcome, action);
    try {
      await record(action, outcome, context);
    } catch (error) {
      if (!(error instanceof Conflict) || attempt === attemptsMax) throw error;
      if (action.overtaken) return reply(await action.overtaken(input, await context.renewed()), action);
      return carryOut(action, input, await context.renewed(), attempt + 1);
    }
    const { next } = outcome;
    if (!next || outcome.failure) return reply(outcome, action);
    // What was committed before it stays, whatever becomes of it.
    return withRefusals(next.action, context, () => carryOut(next.action, { params: {}, query: {}, body: next.body }, context));
  }

  async function record<B>({ audit }: Action<B>, outcome: Outcome, context: Context): Promise<void> {
    const changes = [...(outcome.changes ?? [])];
    if (audit !== 'not-audited') {
      const status = outcome.failure ? 'failure' : 'success';
      changes.push(trail.append({ ...audit, status, details: { ...outcome.details, message: outcome.failure?.message } }, context));
    }
    if (changes.length > 0) await commit(changes);
  }

  async function withRefusals<B>(action: Action<B>, context: Context, work: () => Promise<Reply>): Promise<Reply> {
    try {
      return await work();
    } catch (error) {
      const refusal = asServiceError(error, action, context);
      await recordRefusal(action, refusal, context);
      return problem(refusal, action.class);
    }
  }

  /** A refusal that cannot be recorded stays a refusal; that the record is missing reaches the log. */
  async function recordRefusal<B>({ audit }: Action<B>, refusal: ServiceError, context: Context): Promise<void> {
    if (audit === 'not-audited') return;
    const event: EventDraft = { ...audit, status: 'failure', details: { message: refusal.message } };
    await note(event, context).catch((error: unknown) => context.log.error({ err: error }, 'a refusal could not be recorded'));
  }

  async function note(event: EventDraft, context: Context): Promise<void> {
    if (event.status === 'failure' && !trail.admits(event, context)) return;
    await commit([trail.append(event, context)]);
  }

  return { perform, note };
}

function permit<B>({ permission }: Action<B>, { principal }: Context): void {
  if (permission === 'public' || permission === 'by-object' || permission === 'internal') return;
  if (principal.identifier === undefined) throw authErrors.nobody();
  if (permission === 'authenticated' || permission.some((value) => principal.grant(value))) return;
  throw permissionErrors.denied(`${principal.identifier} lacks ${permission.join(' or ')}`);
}

function parse<B>(action: Action<B>, body: unknown): B {
  // What is reached from within alone is handed a value of the program's own.
  if (!action.body) return (action.permission === 'internal' ? body : undefined) as B;
  if (body instanceof Malformed) throw action.invalid(body.detail);
  const bad = unreadable(body);
  if (bad !== undefined) throw action.invalid(bad);
  const parsed = action.body.safeParse(withoutNulls(body));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw action.invalid(issue ? `${issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''}${issue.message}` : undefined);
}

const depthMax = 100;

/** What no schema lets pass and no table holds: text that cannot be stored, and nesting that would exhaust the stack. */
function unreadable(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : 'a text holds NUL or half a surrogate pair';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === depthMax) return `more than ${depthMax} levels of nesting`;
  for (const [key, inner] of Object.entries(value)) {
    const bad = unreadable(key, depth + 1) ?? unreadable(inner, depth + 1);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

/** Null on input is absence (wire.md 0.1): keys that hold it are left out, at every depth. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]])));
}

function reply<B>({ status, answer, mediaType, failure }: Outcome, action: Action<B>): Reply {
  if (failure) return problem(failure, action.class);
  return {
    status: status ?? (answer === undefined ? 204 : 200),
    ...(answer === undefined ? {} : { body: answer }),
    ...(mediaType ? { mediaType } : {}),
  };
}

function asServiceError<B>(error: unknown, action: Action<B>, context: Context): ServiceError {
  if (error instanceof ServiceError) return error;
  context.log.error({ err: error, action: action.id }, 'an action failed unexpectedly');
  if (isOutage(error)) return routeErrors.unavailable();
  return action.unexpected(undefined, { cause: error });
}

/** Authentication errors have another status in each class of operations (wire.md 0.3). */
const statusByClass: Readonly<Record<OperationClass, Readonly<Record<string, number>>>> = {
  configuration: {},
  dcv: {},
  open: {},
  lifecycle: {
    'SEC-AUTH-003': 403,
    'SEC-AUTH-004': 403,
    'SEC-AUTH-005': 403,
    'SEC-AUTH-006': 403,
    'SEC-AUTH-007': 400,
    'SEC-AUTH-008': 400,
  },
};
export const statusOf = (kind: ErrorKind, operationClass: OperationClass): number =>
  statusByClass[operationClass][kind.code] ?? kind.status;

export function problem({ kind, detail }: ServiceError, operationClass: OperationClass): Reply {
  const status = statusOf(kind, operationClass);
  const body = { error: kind.code, message: kind.title, title: kind.title, status, ...(detail === undefined ? {} : { detail }) };
  return { status, body, mediaType: 'application/problem+json' };
}
