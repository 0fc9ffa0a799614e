/** Waits for what another process is about to do. */
import { setTimeout } from 'node:timers/promises';

/** Asks again until it holds; throws after `seconds`. */
export async function until(holds: () => Promise<boolean>, seconds = 15): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it did not happen within ${seconds} s: ${holds}`);
    await setTimeout(50);
  }
}
