/** Reading certificates: one, several, a search (hcql). Who may see which: visibility.ts. */
import { z } from 'zod';
import { type Operation, operation } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { defineErrors, permissionErrors, queryErrors } from '../../kernel/errors.ts';
import { text } from '../../kernel/schema.ts';
import { fieldSearchQuery, SortError, sortColumns } from '../../kernel/search.ts';
import { DerError } from '../../lib/der/read.ts';
import { parseCertificate } from '../../lib/x509/certificate.ts';
import { parsePem } from '../../lib/x509/pem.ts';
import { conditionOf, readPage } from '../../storage/search.ts';
import { certificateDictionary } from './certificates.query.ts';
import { type CertificateRow, findCertificate, findCertificateByDer, findCertificates } from './certificates.store.ts';
import { chooseFields, FieldError, permissionsOn, presentCertificate, presentSearchResult } from './present.ts';
import { findProfile } from './profiles/profiles.ts';
import { certificateFindRequest, certificateResponse, certificateSearchResults, certificateWithPermissions } from './schemas.ts';
import { sees, visibilityOf, whereSeen } from './visibility.ts';

export const certificateErrors = defineErrors('CERT-SEARCH', {
  internal: ['001', 500, 'Unexpected error'],
  invalid: ['002', 400, 'Invalid Search Request'],
  notFound: ['003', 404, 'Certificate not found'],
});
const { internal, invalid, notFound } = certificateErrors;

const frame = {
  tag: 'certificate',
  class: 'lifecycle',
  capabilities: ['webra'],
  audit: 'not-audited',
  permission: 'by-object',
  invalid,
  unexpected: internal,
} as const;

async function withPermissions(row: CertificateRow, context: Context) {
  const profile = row.profile === null ? undefined : await findProfile(row.profile, context.configuration);
  return { certificate: presentCertificate(row), permissions: permissionsOn(row, profile?.body, context.principal) };
}

/** Where the answer may not say that a caller lacks a right, what it may not see is not there. */
async function seenOrNotFound(found: Promise<CertificateRow | undefined>, context: Context): Promise<CertificateRow> {
  const [visibility, row] = [await visibilityOf(context), await found];
  if (!row || !sees(visibility, row)) throw notFound();
  return row;
}

/** PEM as it comes in a path: escaped once more by some clients, with its line ends turned into spaces by others. Throws CERT-SEARCH-002. */
export function certificateOf(pem: string): Uint8Array {
  try {
    const unescaped = /%[0-9A-Fa-f]{2}/.test(pem) ? decodeURIComponent(pem) : pem;
    const blocks = parsePem(unescaped.replace(/-----(BEGIN|END)\+CERTIFICATE-----/g, '-----$1 CERTIFICATE-----'));
    const [block, ...more] = blocks.filter(({ label }) => label === 'CERTIFICATE');
    if (!block || more.length > 0) throw invalid('one certificate in PEM is expected');
    return parseCertificate(block.der).der;
  } catch (error) {
    if (error instanceof DerError || error instanceof URIError) throw invalid(error.message);
    throw error;
  }
}

const getById = operation({
  ...frame,
  id: 'certificate.get.id',
  method: 'GET',
  path: '/api/v1/certificates/:id',
  match: { id: 'id' },
  errors: [notFound, internal],
  answers: { 200: certificateWithPermissions },
  async run({ params }, context) {
    const visibility = await visibilityOf(context);
    const row = await findCertificate(params['id']!.toLowerCase(), context);
    // Who may search no profile does not learn which certificates there are.
    if (!row && visibility.profiles.size > 0) throw notFound(`'${params['id']}' does not exist`);
    if (!row || !sees(visibility, row))
      throw permissionErrors.denied(`${context.principal.identifier ?? 'nobody'} may not see '${params['id']}'`);
    return { answer: await withPermissions(row, context) };
  },
});

const getByPem = operation({
  ...frame,
  id: 'certificate.get.pem',
  method: 'GET',
  path: '/api/v1/certificates/:pem',
  match: { pem: 'rest' },
  errors: [invalid, notFound, internal],
  answers: { 200: certificateResponse },
  async run({ params }, context) {
    const row = await seenOrNotFound(findCertificateByDer(certificateOf(params['pem']!), context), context);
    return { answer: presentCertificate(row) };
  },
});

const find = operation<z.infer<typeof certificateFindRequest>>({
  ...frame,
  id: 'certificate.find',
  method: 'POST',
  path: '/api/v1/certificates/find',
  body: certificateFindRequest,
  errors: [invalid, notFound, internal],
  answers: { 200: certificateWithPermissions },
  async run({ body }, context) {
    const found = 'id' in body ? findCertificate(body.id, context) : findCertificateByDer(certificateOf(body.pem), context);
    return { answer: await withPermissions(await seenOrNotFound(found, context), context) };
  },
});

/** In the order asked for; whatever is unknown or not to be seen is left out. */
const list = operation<readonly string[]>({
  ...frame,
  id: 'certificate.list',
  method: 'POST',
  path: '/api/v1/certificates',
  body: z.array(text).max(10_000),
  errors: [invalid, internal],
  answers: { 200: z.array(certificateWithPermissions), 204: null },
  async run({ body }, context) {
    const visibility = await visibilityOf(context);
    const ids = [...new Set(body.map((id) => id.toLowerCase()))].filter((id) => /^[0-9a-f]{24}$/.test(id));
    const rows = new Map((await findCertificates(ids, context)).filter((row) => sees(visibility, row)).map((row) => [row.id, row]));
    const seen = ids.flatMap((id) => rows.get(id) ?? []);
    if (seen.length === 0) return {};
    return { answer: await Promise.all(seen.map((row) => withPermissions(row, context))) };
  },
});

type SearchQuery = z.infer<typeof fieldSearchQuery>;

function shapeOf({ sortedBy, fields }: SearchQuery) {
  try {
    return { sort: sortColumns(certificateDictionary, sortedBy), chosen: chooseFields(fields) };
  } catch (error) {
    throw error instanceof SortError || error instanceof FieldError ? invalid(error.message) : error;
  }
}

const search = operation<SearchQuery>({
  ...frame,
  id: 'certificate.search',
  method: 'POST',
  path: '/api/v1/certificates/search',
  query: z.object({ enableAnalytics: z.stringbool().optional() }),
  body: fieldSearchQuery.meta({ id: 'CertificateSearchQuery' }),
  errors: [invalid, queryErrors.invalid, internal],
  answers: { 200: certificateSearchResults },
  async run({ body }, context) {
    const { query, pageIndex, pageSize, withCount, fields } = body;
    const condition = conditionOf(query, certificateDictionary, context);
    const { sort, chosen } = shapeOf(body);
    const where = [condition, whereSeen(await visibilityOf(context))];
    const selection = { from: 'certificate', where, columns: chosen.columns, sort, pageIndex, pageSize };
    const { results, ...rest } = await readPage<CertificateRow>(context.database, selection, withCount);
    const shown = results.map(async (row) => ({
      ...presentSearchResult(row, chosen),
      ...(fields ? {} : { permissions: (await withPermissions(row, context)).permissions }),
    }));
    return { answer: { results: await Promise.all(shown), ...rest } };
  },
});

export const certificateOperations: readonly Operation[] = [search, find, list, getById, getByPem];
