/** Finishes requests whose process died between the decision and the outcome. Signing again is harmless: the bytes were committed before. */
import { defineJob, type Job } from '../../kernel/job.ts';
import { storedEnrollment } from './enroll.ts';
import type { Intent, Issuer } from './issue.ts';
import { findUnfinished, type Unfinished } from './requests.store.ts';

/** Longer than any issuance takes, so that what is under way elsewhere is left alone; a race is lost by a condition, not by luck. */
const patienceMs = 60_000;

export const reconcileRequests = ({ action }: Pick<Issuer, 'action'>): Job =>
  defineJob({
    name: 'request.reconcile',
    everyMs: 30_000,
    async run(context, performer) {
      for (const unfinished of await findUnfinished(context, context.now() - patienceMs)) {
        try {
          await performer.perform(action, { params: {}, query: {}, body: intentOf(unfinished) }, context);
        } catch (error) {
          // One that cannot be carried on does not hold up the others.
          context.log.error({ err: error, request: unfinished.id }, 'a decided request cannot be finished');
        }
      }
    },
  });

function intentOf({ authority, serial, connector, tbs, tbs_hash: tbsHash, ...request }: Unfinished): Intent {
  const { order } = storedEnrollment(request.template);
  return { request, connector, order: order(request.id), prepared: { authority, serial, tbs, tbsHash }, status: 200 };
}
