/** The integrity check as callers see it: asking for one, and what came of those asked for. A report that is deleted by hand is not missed here;
 *  the events of its start and end tell of it. */
import { z } from 'zod';
import { type Operation, operation } from '../../kernel/action.ts';
import { needs, sections } from '../../kernel/permission.ts';
import { epochMs, id } from '../../kernel/schema.ts';
import { eventErrors } from './errors.ts';
import { openReport, readReports, readRunning, reportStatuses, type StoredReport, sealedReport } from './reports.ts';
import type { Seals } from './seals.ts';
import { numberOf } from './verify.ts';

const report = z
  .object({
    _id: id,
    status: z.enum(reportStatuses),
    startedAt: epochMs,
    endedAt: epochMs.optional(),
    from: id.optional(),
    to: id.optional(),
    eventId: id.optional(),
    reason: z.string().optional(),
    seal: z.string(),
  })
  .meta({ id: 'EventIntegrityReport' });

/** Name of the check in its events. */
export const checkName = 'event.integrity';

export function integrityOperations(seals: Seals): readonly Operation[] {
  const present = (stored: StoredReport) => {
    const found = sealedReport(stored, seals);
    const { id: _id, ...shown } = found ?? {
      id: stored.id,
      status: 'reportIntegrityFailure',
      startedAt: 0,
      reason: 'the report was altered',
    };
    return { _id, ...shown, seal: stored.seal };
  };
  const frame = {
    tag: 'event',
    class: 'configuration',
    capabilities: ['events'],
    invalid: eventErrors.invalid,
    unexpected: eventErrors.internal,
  } as const;

  const run = operation({
    ...frame,
    id: 'event.integrity.run',
    method: 'GET',
    path: '/api/v1/events/integrity/run',
    query: z.object({ startFrom: id.optional() }),
    permission: needs(sections.event, 'manage'),
    audit: { code: 'SCHEDULED-TASK-RUN', module: 'event' },
    errors: [eventErrors.invalid, eventErrors.notFound, eventErrors.internal],
    answers: { 204: null },
    async run({ query }, { database, newId, now }) {
      const startFrom = query['startFrom'] === undefined ? undefined : id.safeParse(query['startFrom']).data;
      if (startFrom === undefined && query['startFrom'] !== undefined) throw eventErrors.invalid('startFrom is not the id of an event');
      if (startFrom !== undefined && (await numberOf(database, startFrom)) === undefined)
        throw eventErrors.notFound(`no sealed event '${startFrom}'`);
      const details = { scheduledTaskName: checkName };
      if ((await readRunning(database, seals)).some((asked) => asked.report.from === startFrom)) return { details };
      const opened = { id: newId(), status: 'running', startedAt: now(), ...(startFrom === undefined ? {} : { from: startFrom }) } as const;
      return { details, changes: [openReport(opened, seals)] };
    },
  });

  const list = operation({
    ...frame,
    id: 'event.integrity.list',
    method: 'GET',
    path: '/api/v1/events/integrity',
    permission: needs(sections.event, 'audit'),
    audit: 'not-audited',
    errors: [eventErrors.internal],
    answers: { 200: z.array(report), 204: null },
    async run(_, { database }) {
      const reports = await readReports(database);
      return reports.length === 0 ? {} : { answer: reports.map(present) };
    },
  });

  return [run, list];
}
