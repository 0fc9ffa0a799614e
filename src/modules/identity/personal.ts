/** What principals keep for themselves in their principal info: saved queries, dashboards, preferences (`semantics.md` 5). */
import { z } from 'zod';
import { orders, text } from '../../kernel/schema.ts';

const savedQuery = z
  .object({ type: z.enum(['heql', 'hcql', 'hrql', 'hpql', 'hdql']), query: text, name: text, description: text.optional() })
  .meta({ id: 'PrincipalInfoSavedQuery' });

const having = z.object({ operator: z.enum(['gte', 'lte', 'gt', 'eq', 'ne', 'lt']), value: z.int() }).meta({ id: 'Having' });

const chartTypes = [
  'treemap',
  'bar-horizontal',
  'line',
  'pie',
  'heatmap',
  'bar-horizontal-stacked',
  'metric',
  'radar',
  'donut',
  'bar-vertical-stacked',
  'table',
  'area',
  'bar-vertical',
] as const;

const chart = z
  .object({
    title: text,
    description: text.optional(),
    type: z.enum(chartTypes),
    fields: z.array(text),
    limit: z.int().optional(),
    having: having.optional(),
    sortOrder: z.enum(orders).optional(),
    localQuery: text.optional(),
    direction: z.enum(['asc', 'desc']).optional(),
    colors: z.array(z.string().regex(/^#[0-9a-fA-F]{6}$/, 'a colour is written #RRGGBB')).default([]),
    i: text.optional(),
    x: z.int().min(0).max(11).optional(),
    y: z.int().min(0).optional(),
    w: z.int().min(1).max(12).optional(),
    h: z.int().min(1).optional(),
    log: z.boolean().default(false),
  })
  .meta({ id: 'Chart' });

const dashboard = z
  .object({ name: text, description: text.optional(), charts: z.array(chart).max(100), type: z.enum(['certificate', 'request']) })
  .meta({ id: 'Dashboard' });

const preferences = z
  .object({
    darkMode: z.boolean().default(false),
    expertMode: z.boolean().default(false),
    lang: z.enum(['en', 'fr']).optional(),
    certificateFields: z.array(text).optional(),
    requestFields: z.array(text).optional(),
  })
  .meta({ id: 'PrincipalInfoPreferences' });

export const personal = {
  savedQueries: z.array(savedQuery).max(1000).optional(),
  customDashboards: z.array(dashboard).max(100).optional(),
  preferences: preferences.optional(),
} as const;

export type Personal = Readonly<z.infer<z.ZodObject<typeof personal>>>;
