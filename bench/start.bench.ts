/** From the start of the process until it is ready: on an empty folder, and on the folder that this left; beside the start of bare Node. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { newFolder, startService } from '../test/support/service.ts';

const rounds = 5;
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

export async function run(): Promise<object> {
  const times: { first: number; again: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const directory = await newFolder();
    const readyMs: number[] = [];
    for (let start = 0; start < 2; start += 1) {
      const service = await startService({ directory });
      readyMs.push(service.readyMs);
      await service.stop();
    }
    rmSync(directory, { recursive: true, force: true });
    times.push({ first: readyMs[0]!, again: readyMs[1]! });
  }
  const [first, again] = [median(times.map((time) => time.first)), median(times.map((time) => time.again))];
  const bareNodeMs = median(Array.from({ length: rounds }, bareNode));
  return {
    figure: again,
    unit: 'ms until ready, on a folder with data',
    first_ms: first,
    limits: { bareNodeMs },
    ratios: { ofBareNode: Math.round((again / bareNodeMs) * 10) / 10 },
  };
}

function bareNode(): number {
  const started = performance.now();
  spawnSync(process.execPath, ['--eval', '0']);
  return Math.round(performance.now() - started);
}
