/** The files of api/ are what would be generated now. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { describeApp } from '../../src/app.ts';
import type { Context } from '../../src/kernel/context.ts';
import { apiFiles } from '../support/generate.ts';
import { root } from './sources.ts';

const { operations, actions } = describeApp();
const wanted = apiFiles({ operations, actions });
const advice = 'api/ is not up to date: run npm run generate';

it('api/ holds the generated files and no other', () => {
  assert.deepEqual(readdirSync(join(root, 'api')).sort(), Object.keys(wanted).sort(), advice);
});

for (const [name, text] of Object.entries(wanted)) {
  it(`api/${name} is up to date`, () => assert.ok(readFileSync(join(root, 'api', name), 'utf8') === text, advice));
}

it('the document that is served is the generated one', async () => {
  const served = operations.find(({ id }) => id === 'openapi.get')!;
  const { answer } = await served.run({ params: {}, query: {}, body: undefined as never }, {} as Context);
  assert.deepEqual(JSON.parse(String(answer)), JSON.parse(wanted['openapi.json']!));
});
