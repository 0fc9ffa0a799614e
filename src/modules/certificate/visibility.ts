/** Which certificates a caller sees: those of the profiles that it may search, and its own (semantics 1.8, 3.6). */
import type { Context } from '../../kernel/context.ts';
import { authErrors } from '../../kernel/errors.ts';
import { join, type Sql, sql } from '../../storage/sql.ts';
import type { CertificateRow } from './certificates.store.ts';
import { listProfiles } from './profiles/profiles.ts';
import { holds } from './profiles/rights.ts';

export interface Visibility {
  /** Names. */
  readonly profiles: ReadonlySet<string>;
  readonly owner: string | undefined;
  readonly teams: readonly string[];
}

/** Throws SEC-AUTH-006 for a stranger to whom no profile shows anything. */
export async function visibilityOf(context: Context): Promise<Visibility> {
  const { principal } = context;
  const searchable = (await listProfiles(context.configuration))
    .filter(({ body }) => holds(principal, body, 'search'))
    .map(({ body }) => body.name);
  if (principal.identifier === undefined && searchable.length === 0) throw authErrors.nobody();
  return { profiles: new Set(searchable), owner: principal.identifier, teams: principal.teams };
}

type Held = Pick<CertificateRow, 'profile' | 'owner' | 'team'>;

export const owns = ({ owner, teams }: Pick<Visibility, 'owner' | 'teams'>, row: Held): boolean =>
  (row.owner !== null && row.owner === owner) || (row.team !== null && teams.includes(row.team));

export const sees = (visibility: Visibility, row: Held): boolean =>
  (row.profile !== null && visibility.profiles.has(row.profile)) || owns(visibility, row);

/** The same as a condition on the table. */
export function whereSeen({ profiles, owner, teams }: Visibility): Sql {
  const ways = [
    ...(profiles.size > 0 ? [sql`profile = any(${[...profiles]}::text[])`] : []),
    ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
    ...(teams.length > 0 ? [sql`team = any(${teams}::text[])`] : []),
  ];
  return ways.length === 0 ? sql`false` : join(ways, sql` or `);
}
