/** Who can put things right: accounts that can log in and may give rights. The last of them is neither removed nor locked out. */
import type { Configuration } from '../../kernel/configuration.ts';
import type { Context } from '../../kernel/context.ts';
import { permissionErrors } from '../../kernel/errors.ts';
import { compilePermissions, needs, sections } from '../../kernel/permission.ts';
import { type LocalIdentity, localTag, type PrincipalInfo, principalInfoDocuments, type Role, roleTag } from './documents.ts';

/** A document as it would be after a change; without a body, gone. */
interface Replacement {
  readonly collection: string;
  readonly key: string;
  readonly body?: unknown;
}

/** Identifiers of the accounts that may manage principal infos, and through them give every right. */
export const administrators = (configuration: Configuration): Promise<ReadonlySet<string>> =>
  configuration.memo('identity.administrators', () => administratorsAfter(configuration));

/** Throws when the change would take the last administrator away. */
export async function keepAdministrator(change: Replacement, { configuration }: Context): Promise<void> {
  if ((await administrators(configuration)).size === 0) return;
  if ((await administratorsAfter(configuration, change)).size === 0)
    throw permissionErrors.denied('the last administrator would lose its rights');
}

async function administratorsAfter(configuration: Configuration, change?: Replacement): Promise<ReadonlySet<string>> {
  const documents = async <D extends object>(collection: string, keyOf: (body: D) => string): Promise<readonly D[]> => {
    const bodies = (await configuration.list<D>(collection)).map(({ body }) => body);
    if (change?.collection !== collection) return bodies;
    return bodies.filter((body) => keyOf(body) !== change.key).concat(change.body === undefined ? [] : [change.body as D]);
  };
  const locals = await documents<LocalIdentity>(localTag, ({ identifier }) => identifier);
  const roles = await documents<Role>(roleTag, ({ name }) => name);
  const infos = await documents<PrincipalInfo>(principalInfoDocuments.tag, ({ identifier }) => identifier);

  const withLogin = new Set(locals.filter(({ hash }) => hash !== undefined).map(({ identifier }) => identifier));
  const permissionsOf = new Map(roles.map(({ name, permissions }) => [name, permissions ?? []]));
  const isAdministrator = ({ identifier, enabled, permissions = [], roles: held = [] }: PrincipalInfo) => {
    const grant = compilePermissions([...permissions, ...held.flatMap((role) => permissionsOf.get(role) ?? [])]);
    return enabled && withLogin.has(identifier) && needs(sections.principalInfo, 'manage').some(grant);
  };
  return new Set(infos.filter(isAdministrator).map(({ identifier }) => identifier));
}
