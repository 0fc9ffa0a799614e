/** For commit.test.ts: commits pairs of rows until it is killed, and tells which were acknowledged. */
import { defineTable, insert } from '../../src/kernel/change.ts';
import { createCommitter } from '../../src/storage/commit.ts';
import { openDatabase } from '../../src/storage/database.ts';

const [url, round] = [process.argv[2]!, process.argv[3]!];
const once = defineTable('once', { id: 'text', state: 'text' }, ['id']);
const line = defineTable('line', { text: 'text' }, ['text']);
const commit = createCommitter(openDatabase({ url, poolSize: 1, lanes: 2 }).writers);

const worker = async (n: number): Promise<void> => {
  for (let i = 0; ; i += 1) {
    const id = `k${round}-${n}-${i}`;
    await commit([insert(once, { id, state: 'x' }), insert(line, { text: `line ${id}` })]);
    process.send!(id);
  }
};
for (let n = 0; n < 16; n += 1) void worker(n);
