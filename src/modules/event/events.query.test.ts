import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { dictionaryConformance } from '../../../test/conformance/dictionary.ts';
import { type Bench, openBench } from '../../../test/support/context.ts';
import { eventDictionary } from './events.query.ts';
import { sealAll } from './sealer.ts';
import { createSeals } from './seals.ts';
import { appendTo } from './trail.ts';

let bench: Bench;
before(async () => {
  bench = await openBench();
  const seals = createSeals(randomBytes(32));
  const note = async (message: string) =>
    bench.commit([
      appendTo(seals, { code: 'SUPERVISOR', module: 'event', status: 'success', details: { message, ip: '192.0.2.1' } }, await bench.as()),
    ]);
  for (const message of ['x', 'y', '%_']) await note(message);
  await sealAll(seals, bench.commit, await bench.as());
  for (const message of ['z', '']) await note(message);
});
after(() => bench.close());

test('whatever can be asked of events is answered', () => dictionaryConformance(bench.database.writers, eventDictionary, 'event_all'));
