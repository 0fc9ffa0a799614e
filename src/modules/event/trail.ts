/** What `perform` appends: an event as a row of `event_pending`, marked as ours. Sealing it is the sealer's business. */
import { type Change, insert } from '../../kernel/change.ts';
import type { Context } from '../../kernel/context.ts';
import { type EventDraft, pendingEventTable } from '../../kernel/event.ts';
import type { Trail } from '../../kernel/perform.ts';
import type { Refusals } from './refusals.ts';
import { detailsText, type Seals } from './seals.ts';

const valueMax = 4_000;

export function createTrail(seals: Seals, refusals: Refusals<EventDraft>): Trail {
  return {
    append: (event, context) =>
      appendTo(seals, withUntold(event, event.status === 'failure' ? refusals.take(kindOf(event, context)) : 0), context),
    admits: (event, context) => {
      const sample = { ...event, details: { ...origin(context), message: event.details['message'] } };
      return refusals.admits(kindOf(event, context), sample, context.now());
    },
  };
}

/** The event with what is known of who caused it. */
export function appendTo(seals: Seals, { code, module, status, details }: EventDraft, context: Context): Change {
  const record = { id: context.newId(), code, module, node: context.node, status, at: context.now() };
  const stored = cleaned({ ...details, ...origin(context) });
  return insert(pendingEventTable, { ...record, details: stored, mac: seals.pending({ ...record, details: detailsText(stored) }) });
}

export function withUntold(event: EventDraft, untold: number): EventDraft {
  if (untold === 0) return event;
  const message = [event.details['message'], `${untold} more like this were not recorded one by one`].filter(Boolean).join('; ');
  return { ...event, details: { ...event.details, message } };
}

const kindOf = ({ code, status }: EventDraft, { principal, caller }: Context): string =>
  JSON.stringify([principal.identifier ?? caller.ip ?? '', code, status]);

function origin({ principal, caller }: Context): Record<string, string> {
  return defined({
    actorId: principal.identifier,
    actorType: principal.provider?.type,
    ip: caller.ip,
    httpVerb: caller.verb,
    httpPath: caller.path,
  });
}

const defined = (details: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(details).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** What the database can hold: no U+0000, no half of a surrogate pair, and no more than an event should. */
const cleaned = (details: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(defined(details)).map(([key, value]) => [key, clean(value)]));
const clean = (value: string): string =>
  (value.length > valueMax ? `${value.slice(0, valueMax - 1)}…` : value).toWellFormed().replaceAll('\0', '\ufffd');
