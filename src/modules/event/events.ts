/** Reading events: search (heql) and single ones, sealed or about to be. */
import { z } from 'zod';
import { type Operation, operation } from '../../kernel/action.ts';
import { queryErrors } from '../../kernel/errors.ts';
import { eventCodes, eventModules, eventStatuses } from '../../kernel/event.ts';
import { needs, sections } from '../../kernel/permission.ts';
import { epochMs, id } from '../../kernel/schema.ts';
import { type Sort, SortError, searchQuery, sortColumns } from '../../kernel/search.ts';
import { conditionOf, readPage } from '../../storage/search.ts';
import { eventErrors } from './errors.ts';
import { eventDictionary } from './events.query.ts';

const event = z
  .object({
    _id: id,
    code: z.enum(eventCodes),
    module: z.enum(eventModules),
    node: z.string(),
    status: z.enum(eventStatuses),
    timestamp: epochMs,
    details: z.array(z.object({ key: z.string(), value: z.string() }).meta({ id: 'EventDetail' })),
    removeAt: epochMs.optional(),
    seal: z.string().optional(),
  })
  .meta({ id: 'EventResponse' });

const results = z
  .object({
    results: z.array(event.meta({ id: 'EventSearchResult' })),
    pageIndex: z.int(),
    pageSize: z.int(),
    count: z.int().optional(),
    hasMore: z.boolean(),
  })
  .meta({ id: 'EventSearchResultsResponse' });

interface Row {
  readonly id: string;
  readonly code: string;
  readonly module: string;
  readonly node: string;
  readonly status: string;
  readonly at: number;
  /** Null, like anything else that is no text, only where somebody was at it by hand. */
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly remove_at: number | null;
  readonly seal: string | null;
}
const columns = ['id', 'code', 'module', 'node', 'status', 'at', 'details', 'remove_at', 'seal'] as const satisfies readonly (keyof Row)[];

const present = ({ id, at, details, remove_at: removeAt, seal, ...row }: Row) => ({
  _id: id,
  ...row,
  timestamp: at,
  details: Object.entries(details ?? {}).map(([key, value]) => ({ key, value: typeof value === 'string' ? value : JSON.stringify(value) })),
  ...(removeAt === null ? {} : { removeAt }),
  ...(seal === null ? {} : { seal }),
});

const newestFirst: readonly Sort[] = [{ column: 'at', descending: true }];

const frame = {
  tag: 'event',
  class: 'configuration',
  capabilities: ['events'],
  audit: 'not-audited',
  permission: needs(sections.event, 'audit'),
  invalid: eventErrors.query,
  unexpected: eventErrors.internal,
} as const;

type SearchQuery = z.infer<typeof searchQuery>;

function sortOf({ sortedBy = [] }: SearchQuery): readonly Sort[] {
  try {
    return sortedBy.length > 0 ? sortColumns(eventDictionary, sortedBy) : newestFirst;
  } catch (error) {
    throw error instanceof SortError ? eventErrors.query(error.message) : error;
  }
}

export const eventOperations: readonly Operation[] = [
  operation<SearchQuery>({
    ...frame,
    id: 'event.search',
    method: 'POST',
    path: '/api/v1/events/search',
    body: searchQuery.meta({ id: 'EventSearchQuery' }),
    errors: [queryErrors.invalid, eventErrors.query, eventErrors.internal],
    answers: { 200: results },
    async run({ body }, context) {
      const { query, pageIndex, pageSize, withCount } = body;
      const where = [conditionOf(query, eventDictionary, context)];
      const found = await readPage<Row>(
        context.database,
        { from: 'event_all', where, columns, sort: sortOf(body), pageIndex, pageSize },
        withCount,
      );
      return { answer: { ...found, results: found.results.map(present) } };
    },
  }),
  operation({
    ...frame,
    id: 'event.get',
    method: 'GET',
    path: '/api/v1/events/:id',
    match: { id: 'id' },
    errors: [eventErrors.notFound, eventErrors.internal],
    answers: { 200: event },
    async run({ params }, { database }) {
      const text = `select ${columns.join(', ')} from event_all where id = $1`;
      const [row] = await database.rows<Row>({ name: 'event-get', text, values: [params['id']] });
      if (!row) throw eventErrors.notFound(`'${params['id']}' does not exist`);
      return { answer: present(row) };
    },
  }),
];
