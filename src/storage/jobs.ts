/** Runs background jobs: each in a loop of its own, again after its pause, more slowly while it fails. */
import { setTimeout } from 'node:timers/promises';
import type { Context, Log } from '../kernel/context.ts';
import type { Job } from '../kernel/job.ts';
import type { Performer } from '../kernel/perform.ts';

export interface RunningJobs {
  /** Resolves when what was under way has come to its end. */
  stop(): Promise<void>;
}

export interface JobTools {
  /** A fresh one for each run. */
  context(): Promise<Context>;
  readonly performer: Performer;
  readonly log: Log;
}

const backOffMaxMs = 60_000;
/** A run that takes longer is told of while it lasts: one that waits for ever would not be missed otherwise. */
const longMs = 15_000;

export function startJobs(jobs: readonly Job[], { context, performer, log }: JobTools): RunningJobs {
  const stopping = new AbortController();
  const { signal } = stopping;

  const loop = async ({ name, everyMs, run }: Job): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      const watch = setInterval(() => log.warn({ job: name }, 'a job has been at it for long'), longMs);
      try {
        await run(await context(), performer);
        failures = 0;
      } catch (error) {
        failures += 1;
        log.warn({ err: error, job: name, failures }, 'a job failed and will be repeated');
      } finally {
        clearInterval(watch);
      }
      const pause = failures === 0 ? everyMs : Math.max(everyMs, Math.min(backOffMaxMs, 1_000 * 2 ** failures));
      await setTimeout(pause, undefined, { signal }).catch(() => {});
    }
  };
  const loops = jobs.map(loop);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}
