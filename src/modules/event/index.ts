/** The audit trail: what `perform` appends to, the jobs that seal and check it, and the operations that read it. */
import type { Operation } from '../../kernel/action.ts';
import type { Commit } from '../../kernel/change.ts';
import type { EventDraft } from '../../kernel/event.ts';
import { defineJob, type Job } from '../../kernel/job.ts';
import type { Trail } from '../../kernel/perform.ts';
import { eventOperations } from './events.ts';
import { createIntegrityJob } from './integrity.jobs.ts';
import { integrityOperations } from './integrity.ts';
import { createRefusals } from './refusals.ts';
import { createSealer } from './sealer.ts';
import { createSeals } from './seals.ts';
import { appendTo, createTrail, withUntold } from './trail.ts';

export interface EventModule {
  readonly trail: Trail;
  readonly operations: readonly Operation[];
  readonly jobs: readonly Job[];
}

/** `sealSecret` is the same in every process, for as long as the trail is to be checked. */
export function eventModule({ sealSecret, commit }: { readonly sealSecret: Uint8Array; readonly commit: Commit }): EventModule {
  const seals = createSeals(sealSecret);
  const refusals = createRefusals<EventDraft>();
  const countJob = defineJob({
    name: 'event.refusals',
    everyMs: 60_000,
    async run(context) {
      const told = refusals.takeStale(context.now()).map(({ sample, untold }) => appendTo(seals, withUntold(sample, untold), context));
      if (told.length > 0) await commit(told);
    },
  });
  return {
    trail: createTrail(seals, refusals),
    operations: [...eventOperations, ...integrityOperations(seals)],
    jobs: [createSealer(seals, commit), createIntegrityJob(seals, commit), countJob],
  };
}
