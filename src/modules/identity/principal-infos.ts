/** Principal infos: what an identifier may do. There is no list; who looks for one searches. */
import { z } from 'zod';
import { operation } from '../../kernel/action.ts';
import { defineCollection } from '../../kernel/collection.ts';
import type { Context } from '../../kernel/context.ts';
import { defineErrors, permissionErrors } from '../../kernel/errors.ts';
import { needs, sections } from '../../kernel/permission.ts';
import { epochMs, text } from '../../kernel/schema.ts';
import { searchQuery } from '../../kernel/search.ts';
import { keepAdministrator } from './administrators.ts';
import { type PrincipalInfo, principalInfoDocuments } from './documents.ts';
import { requireHeld } from './grants.ts';
import { identifier } from './identifier.ts';
import { acceptPermissions, permissionList } from './permissions.ts';
import { personal } from './personal.ts';
import { permissionsOf } from './principals.ts';

const { tag } = principalInfoDocuments;
const path = '/api/v1/security/principalinfos';

const errors = defineErrors('SEC-PI', {
  internal: ['001', 500, 'Unexpected Error'],
  invalid: ['002', 400, 'Invalid Principal Info'],
  notFound: ['003', 404, 'Principal Info not found'],
  exists: ['004', 400, 'Principal info already exists'],
  search: ['005', 400, 'Invalid Principal Info search query'],
});

const schema = z
  .object({
    identifier,
    contact: text.optional(),
    permissions: permissionList.optional(),
    roles: z.array(text).max(1000).optional(),
    teams: z.array(text).max(1000).optional(),
    ...personal,
    enabled: z.boolean().default(true),
  })
  .meta({ id: 'PrincipalInfo' });
type Draft = z.infer<typeof schema>;

async function accept(draft: Draft, context: Context, stored?: PrincipalInfo): Promise<PrincipalInfo> {
  if (stored) refuseOneself(stored, context);
  const { savedQueries, customDashboards, preferences } = stored ?? {};
  const now = context.now();
  const info: PrincipalInfo = {
    savedQueries,
    customDashboards,
    preferences,
    ...draft,
    ...(draft.permissions ? { permissions: await acceptPermissions(draft.permissions, errors.invalid, context) } : {}),
    ...(draft.roles ? { roles: [...new Set(draft.roles)] } : {}),
    creationDate: stored?.creationDate ?? now,
    lastModification: now,
  };
  await requireHeldBy(info, context, stored);
  if (stored) await keepAdministrator({ collection: tag, key: info.identifier, body: info }, context);
  return info;
}

/** A role that it has already is not given anew, whatever became of the role. */
async function requireHeldBy({ permissions, roles }: PrincipalInfo, context: Context, stored?: PrincipalInfo): Promise<void> {
  const given = { permissions, roles: roles?.filter((role) => !stored?.roles?.includes(role)) };
  requireHeld(await permissionsOf(given, context.configuration), context, stored?.permissions);
}

function refuseOneself({ identifier }: PrincipalInfo, { principal }: Context): void {
  if (identifier === principal.identifier) throw permissionErrors.denied('nobody may change or delete their own principal info');
}

const searchBody = searchQuery
  .omit({ query: true })
  .extend({
    identifier: text.optional(),
    contact: text.optional(),
    role: text.optional(),
    team: text.optional(),
    strictSearch: z.boolean().default(false),
  })
  .meta({ id: 'PrincipalInfoSearchQuery' });
type Search = z.infer<typeof searchBody>;

/** Criteria are joined by "or"; none asks for all. `contact` is looked for as a part even when the search is strict. */
function matches({ identifier, contact, role, team, strictSearch }: Search): (info: PrincipalInfo) => boolean {
  const contains = (value: string | undefined, part: string) => value?.toLowerCase().includes(part.toLowerCase()) ?? false;
  const is = (value: string, wanted: string) => (strictSearch ? value === wanted : contains(value, wanted));
  const criteria: ((info: PrincipalInfo) => boolean)[] = [
    ...(identifier === undefined ? [] : [(info: PrincipalInfo) => is(info.identifier, identifier)]),
    ...(contact === undefined ? [] : [(info: PrincipalInfo) => contains(info.contact, contact)]),
    ...(role === undefined ? [] : [(info: PrincipalInfo) => info.roles?.some((name) => is(name, role)) ?? false]),
    ...(team === undefined ? [] : [(info: PrincipalInfo) => info.teams?.some((name) => is(name, team)) ?? false]),
  ];
  return (info) => criteria.length === 0 || criteria.some((holds) => holds(info));
}

const sortable = ['identifier', 'contact', 'enabled'] as const;

/** By what was asked, then by identifier: the list comes in that order and sorting keeps it. */
function sorted(infos: readonly PrincipalInfo[], sortedBy: Search['sortedBy'] = []): readonly PrincipalInfo[] {
  const orders = sortedBy.map(({ element, order }) => {
    const field = sortable.find((name) => name === element);
    if (field === undefined) throw errors.search(`sort element '${element}' is unknown`);
    const sign = order === 'Desc' || order === 'KeyDesc' ? -1 : 1;
    const textOf = (info: PrincipalInfo) => String(info[field] ?? '');
    return (a: PrincipalInfo, b: PrincipalInfo) => (textOf(a) === textOf(b) ? 0 : textOf(a) < textOf(b) ? -sign : sign);
  });
  return [...infos].sort((a, b) => orders.map((compare) => compare(a, b)).find((result) => result !== 0) ?? 0);
}

/** Found infos are shown without what the server adds to them: the contract has `PrincipalInfo` here. */
const shown = ({ creationDate, lastModification, ...info }: PrincipalInfo) => info;

const search = operation<Search>({
  tag,
  class: 'configuration',
  id: 'security.principal.info.search',
  method: 'POST',
  path: `${path}/search`,
  permission: needs(sections.principalInfo, 'audit'),
  audit: 'not-audited',
  capabilities: ['configuration'],
  body: searchBody,
  invalid: errors.search,
  unexpected: errors.internal,
  errors: [errors.search, errors.internal],
  answers: {
    200: z
      .object({ results: z.array(schema), pageIndex: z.int(), pageSize: z.int(), count: z.int().optional(), hasMore: z.boolean() })
      .meta({ id: 'PrincipalInfoSearchResultsResponse' }),
  },
  async run({ body }, { configuration }) {
    const { pageIndex, pageSize, withCount, sortedBy } = body;
    const infos = (await configuration.list<PrincipalInfo>(tag)).map((stored) => stored.body);
    const found = sorted(infos.filter(matches(body)), sortedBy);
    const [from, to] = [(pageIndex - 1) * pageSize, pageIndex * pageSize];
    const count = withCount ? { count: found.length } : {};
    return { answer: { results: found.slice(from, to).map(shown), pageIndex, pageSize, ...count, hasMore: found.length > to } };
  },
});

export const principalInfos = defineCollection<Draft, PrincipalInfo>({
  ...principalInfoDocuments,
  id: 'security.principal.info',
  path,
  key: 'identifier',
  schema,
  answer: schema.extend({ creationDate: epochMs, lastModification: epochMs }),
  errors,
  section: sections.principalInfo,
  audit: { module: 'security', add: 'SEC-AUTHORIZATION-ADD', update: 'SEC-AUTHORIZATION-UPDATE', delete: 'SEC-AUTHORIZATION-DELETE' },
  except: ['list'],
  notYet: ['teams'],
  accept,
  async release(stored, context) {
    refuseOneself(stored, context);
    await keepAdministrator({ collection: tag, key: stored.identifier }, context);
  },
  extras: [search],
});
