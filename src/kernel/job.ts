/** Background work: a reconciler that looks at the state and does what is missing. It may run twice, at once in two processes, and takes no input. */
import type { Context } from './context.ts';
import type { Performer } from './perform.ts';

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(context: Context, performer: Performer): Promise<void>;
}
export const defineJob = (job: Job): Job => job;
