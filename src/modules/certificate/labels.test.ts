import { collectionContract } from '../../../test/conformance/collection.ts';
import { labels } from './labels.ts';

const valid = { name: 'site', displayName: [{ lang: 'en', value: 'Site' }], regex: '^[a-z]+$' };

collectionContract(labels, {
  valid,
  invalid: [{}, { ...valid, name: 'a b' }, { ...valid, regex: '(' }, { ...valid, displayName: 'Site' }],
});
