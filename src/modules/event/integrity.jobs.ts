/** Carries out the checks that were asked for. One process does each, by a lease that it keeps renewing; after a crash another begins it again. */
import { type Commit, Conflict } from '../../kernel/change.ts';
import type { Context } from '../../kernel/context.ts';
import { defineJob, type Job } from '../../kernel/job.ts';
import { checkName } from './integrity.ts';
import { closeReport, leaseReport, type Report, readRunning } from './reports.ts';
import type { Seals } from './seals.ts';
import { appendTo } from './trail.ts';
import { type Verdict, verifyTrail } from './verify.ts';

const leaseMs = 60_000;

export const createIntegrityJob = (seals: Seals, commit: Commit): Job =>
  defineJob({
    name: checkName,
    everyMs: 1_000,
    async run(context) {
      for (const { report, leaseUntil } of await readRunning(context.database, seals)) {
        if (leaseUntil <= context.now())
          await unlessTaken(report, context.log, () => check(report, leaseUntil, { context, seals, commit }));
      }
    },
  });

/** Whoever loses the lease leaves the check to whoever has it. */
async function unlessTaken({ id }: Report, log: Context['log'], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    log.info({ err: error, report: id }, 'an integrity check is left to whoever has its lease');
  }
}

interface Tools {
  readonly context: Context;
  readonly seals: Seals;
  readonly commit: Commit;
}

async function check(report: Report, free: number, { context, seals, commit }: Tools): Promise<void> {
  const { now, database, log } = context;
  let held = free;
  const lease = async () => {
    const until = now() + leaseMs;
    await commit([leaseReport(report.id, held, until)]);
    held = until;
  };
  const pulse = async () => {
    if (held - now() < leaseMs / 2) await lease();
  };
  await lease();
  const result = await verifyTrail({ database, seals, pulse }, report.from).then(resultOf, (error: unknown) => {
    if (error instanceof Conflict) throw error;
    log.error({ err: error }, 'an integrity check failed unexpectedly');
    return { status: 'unexpectedFailure', reason: 'the check could not be completed' } as const;
  });
  if (result.status === 'eventIntegrityFailure') log.error(result, 'the trail of events was tampered with');
  const status = result.status === 'verified' ? 'success' : 'failure';
  const details = { scheduledTaskName: checkName, message: result.reason ?? 'verified' };
  await commit([
    closeReport({ ...report, ...result, endedAt: now() }, seals),
    appendTo(seals, { code: 'SCHEDULED-TASK-COMPLETE', module: 'event', status, details }, context),
  ]);
}

const resultOf = (verdict: Verdict) =>
  ({ ...verdict, status: verdict.reason === undefined ? 'verified' : 'eventIntegrityFailure' }) as const;
