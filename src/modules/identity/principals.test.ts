import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { z } from 'zod';
import { writeGiven } from '../../../test/conformance/collection.ts';
import { type Bench, openBench, principalWith } from '../../../test/support/context.ts';
import { nobody } from '../../kernel/principal.ts';
import { self } from './principals.ts';

describe('principals/self', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  it('is empty for nobody', async () => assert.deepEqual(await bench.perform(self, {}, nobody), { status: 204 }));

  it('shows the effective permissions and what is personal', async () => {
    const preferences = { darkMode: true, expertMode: false };
    await writeGiven(bench, [['security.principalinfo', 'ada', { identifier: 'ada', enabled: true, preferences }]]);
    const principal = { ...principalWith(['configuration:*']), name: 'Ada', roles: ['operators'] };
    const { status, body } = await bench.perform(self, {}, principal);
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(JSON.stringify(body)), {
      identity: { identifier: 'ada', name: 'Ada', identityProviderType: 'Local', identityProviderName: 'local' },
      permissions: [{ value: 'configuration:*' }],
      roles: ['operators'],
      teams: [],
      teamInfos: [],
      preferences,
      customDashboards: [],
    });
    assert.ok((self.answers[200] as z.ZodType).safeParse(body).success);
  });
});
