/** Labels classify certificates: each certificate has at most one value for each. A label may restrict its values. */
import { z } from 'zod';
import { defineCollection } from '../../kernel/collection.ts';
import { collectionErrors } from '../../kernel/errors.ts';
import { sections } from '../../kernel/permission.ts';
import { localizedTexts, names } from '../../kernel/schema.ts';
import { pattern } from './pattern.ts';

const label = z
  .object({ name: names.plain, displayName: localizedTexts, description: localizedTexts, regex: pattern.optional() })
  .meta({ id: 'Label' });
export type Label = Readonly<z.infer<typeof label>>;

export const labels = defineCollection({
  tag: 'certificate.label',
  id: 'label',
  path: '/api/v1/certificate/labels',
  detail: 'labelName',
  schema: label,
  errors: collectionErrors('CERT-LABEL', 'Label', { referenced: 403, internal: 'Unexpected Error' }),
  section: sections.label,
});
