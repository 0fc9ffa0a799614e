/** Finishes requests whose process died between the decision and the outcome. Signing again is harmless: the bytes were committed before. */
import { defineJob, type Job } from '../../kernel/job.ts';
import { findProfile } from '../certificate/index.ts';
import { editedEnrollment } from './enroll.ts';
import type { Issuer } from './issue.ts';
import { findIssuance, findUnfinished } from './requests.store.ts';

/** Longer than any issuance takes, so that what is under way elsewhere is left alone; a race is lost by a condition, not by luck. */
const patienceMs = 60_000;

export const reconcileRequests = ({ action }: Pick<Issuer, 'action'>): Job =>
  defineJob({
    name: 'request.reconcile',
    everyMs: 30_000,
    async run(context, performer) {
      for (const request of await findUnfinished(context, context.now() - patienceMs)) {
        const [profile, issuance] = [await findProfile(request.profile, context.configuration), await findIssuance(request.id, context)];
        if (!profile || !issuance) continue;
        const { order } = await editedEnrollment(profile.body, request.template, {}, context);
        const { authority, serial, tbs, tbs_hash: tbsHash } = issuance;
        const intent = {
          request,
          connector: issuance.connector,
          order: order(request.id),
          prepared: { authority, serial, tbs, tbsHash },
          status: 200,
        };
        await performer.perform(action, { params: {}, query: {}, body: intent }, context);
      }
    },
  });
