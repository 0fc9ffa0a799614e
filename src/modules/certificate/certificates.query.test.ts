import { after, before, test } from 'node:test';
import { dictionaryConformance } from '../../../test/conformance/dictionary.ts';
import { type Bench, openBench } from '../../../test/support/context.ts';
import { insert } from '../../kernel/change.ts';
import { certificateDictionary } from './certificates.query.ts';
import { certificateRow, certificateTable } from './certificates.store.ts';
import { unsignedCertificate } from './fixtures/certificate.ts';

let bench: Bench;
before(async () => {
  bench = await openBench();
  const rows = Array.from({ length: 5 }, (_, serial) =>
    certificateRow(unsignedCertificate({ serial, name: `${serial}.example`, notBefore: serial * 1000, notAfter: Date.UTC(2030, serial) }), {
      id: String(serial).padStart(24, '0'),
      module: 'webra',
      profile: serial > 2 ? 'web' : null,
      owner: serial > 3 ? 'ada' : null,
      team: null,
      contactEmail: null,
      labels: { 'Some-thing_1': `x${serial}` },
      metadata: serial > 1 ? { pki_connector: 'lab' } : {},
    }),
  );
  await bench.commit(rows.map((row) => insert(certificateTable, row)));
});
after(() => bench.close());

test('whatever can be asked of certificates is answered', () =>
  dictionaryConformance(bench.database.writers, certificateDictionary, 'certificate'));
