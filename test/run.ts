/**
 * Runs the tests that need nothing beside the repo, or those of the files and folders named (`npm test -- src/lib/der`). Options go to `node --test`.
 * The journeys need programs of the machine: `npm run journeys`.
 */
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const everything = ['src', 'test/support', 'test/house'];
const options = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

const missing = named.filter((path) => !existsSync(path));
if (missing.length > 0) {
  console.error(`There is no ${missing.join(', no ')}.`);
  process.exit(1);
}
const patterns = (named.length > 0 ? named : everything).map((path) =>
  existsSync(path) && statSync(path).isFile() ? path : `${path.replace(/\/$/, '')}/**/*.test.ts`,
);

const runner = spawn(
  process.execPath,
  [
    '--test',
    '--test-global-setup=test/support/database.ts',
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    '--test-timeout=60000',
    ...options,
    ...patterns,
  ],
  { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? 'node_modules/.cache/node' } },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal));
runner.on('exit', (code) => process.exit(code ?? 1));
