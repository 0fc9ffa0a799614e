import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Context, Log } from '../kernel/context.ts';
import type { Job } from '../kernel/job.ts';
import { startJobs } from './jobs.ts';

const made: Context = {} as Context;

function start(jobs: readonly Job[], context: () => Promise<Context> = async () => made) {
  const warnings: object[] = [];
  const log: Log = { info: () => {}, warn: (fields) => void warnings.push(fields), error: () => {} };
  return { warnings, running: startJobs(jobs, { context, performer: {} as never, log }) };
}

describe('jobs', () => {
  it('run at once and again after their pause, each in its own time', async () => {
    const runs = { quick: 0, slow: 0 };
    const job = (name: 'quick' | 'slow', everyMs: number): Job => ({
      name,
      everyMs,
      run: async () => {
        runs[name] += 1;
      },
    });
    const { running } = start([job('quick', 1), job('slow', 60_000)]);
    while (runs.quick < 3) await setTimeout(1);
    await running.stop();
    assert.equal(runs.slow, 1);
  });

  it('run with a context made for the run', async () => {
    const seen: unknown[] = [];
    let count = 0;
    const { running } = start(
      [{ name: 'a', everyMs: 1, run: async (context) => void seen.push(context) }],
      async () => ({ node: count++ }) as never,
    );
    while (seen.length < 2) await setTimeout(1);
    await running.stop();
    assert.notEqual(seen[0], seen[1]);
  });

  it('that fail are told of and come again later, and the others go on', async () => {
    let [failed, fine] = [0, 0];
    const { running, warnings } = start([
      {
        name: 'failing',
        everyMs: 1,
        run: async () => {
          failed += 1;
          throw new Error('no');
        },
      },
      {
        name: 'fine',
        everyMs: 1,
        run: async () => {
          fine += 1;
        },
      },
    ]);
    while (fine < 20) await setTimeout(1);
    await running.stop();
    assert.equal(failed, 1);
    assert.partialDeepStrictEqual(warnings, [{ job: 'failing', failures: 1 }]);
  });

  it('without a context fail like any other', async () => {
    const { running, warnings } = start([{ name: 'a', everyMs: 1, run: async () => assert.fail() }], () =>
      Promise.reject(new Error('away')),
    );
    while (warnings.length === 0) await setTimeout(1);
    await running.stop();
  });

  it('that take long are told of while they last', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { promise, resolve } = Promise.withResolvers<void>();
    const { running, warnings } = start([{ name: 'slow', everyMs: 60_000, run: () => promise }]);
    t.mock.timers.tick(14_999);
    assert.deepEqual(warnings, []);
    t.mock.timers.tick(15_001);
    assert.deepEqual(warnings, Array(2).fill({ job: 'slow' }));
    resolve();
    await running.stop();
    t.mock.timers.tick(60_000);
    assert.equal(warnings.length, 2);
  });

  it('stop when what is under way has come to its end, and do not begin again', async () => {
    let runs = 0;
    let finish = () => {};
    const job: Job = {
      name: 'a',
      everyMs: 1,
      run: () => {
        runs += 1;
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    };
    const { running } = start([job]);
    await setTimeout(1);
    let stopped = false;
    const stopping = running.stop().then(() => {
      stopped = true;
    });
    await setTimeout(5);
    assert.equal(stopped, false);
    finish();
    await stopping;
    assert.equal(runs, 1);
  });
});
