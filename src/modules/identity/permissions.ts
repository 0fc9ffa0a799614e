/** Permissions as roles and principal infos carry them: what is accepted, and what becomes of them when a profile goes. */
import { z } from 'zod';
import type { Change } from '../../kernel/change.ts';
import { writeDocument } from '../../kernel/collection.ts';
import type { Configuration, Stored } from '../../kernel/configuration.ts';
import type { Context } from '../../kernel/context.ts';
import type { Thrower } from '../../kernel/errors.ts';
import { isPermission, profilesNamedBy } from '../../kernel/permission.ts';
import type { Permission } from '../../kernel/principal.ts';
import { text } from '../../kernel/schema.ts';
import { type PrincipalInfo, principalInfoDocuments, profileTag, type Role, roleTag } from './documents.ts';

const permissionSchema = z.object({ value: text, filter: text.optional() }).meta({ id: 'Permission' });
export const permissionList = z.array(permissionSchema).max(1000);

/** Sorted, each once. Throws for a malformed value, a filter, and a profile that does not exist. */
export async function acceptPermissions(
  permissions: readonly Permission[],
  invalid: Thrower,
  { configuration }: Context,
): Promise<readonly Permission[]> {
  const profiles = await profileModules(configuration);
  for (const [index, { value, filter }] of permissions.entries()) {
    const place = `permissions.${index}`;
    if (!isPermission(value)) throw invalid(`${place}.value: '${value.slice(0, 100)}' is not a permission`);
    if (filter) throw invalid(`'${place}.filter' is not available yet`);
    const unknown = profilesNamedBy(value).find(({ modules, profile }) => !isAmong(profiles.get(profile), modules));
    if (unknown) throw invalid(`${place}.value: there is no profile '${unknown.profile}' of module ${unknown.modules.join(' or ')}`);
  }
  return distinct(permissions);
}

export function distinct(permissions: readonly Permission[]): readonly Permission[] {
  const byValue = new Map(permissions.map(({ value, filter }) => [`${value} ${filter ?? ''}`, { value, ...(filter ? { filter } : {}) }]));
  return [...byValue].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, permission]) => permission);
}

/** Lower-case names of all profiles with the modules that have one of that name: permissions are compared without case. */
const profileModules = (configuration: Configuration): Promise<ReadonlyMap<string, readonly string[]>> =>
  configuration.memo('identity.profiles', async () => {
    const profiles = await configuration.list<{ readonly name: string; readonly module: string }>(profileTag);
    const byName = Map.groupBy(profiles, ({ body }) => body.name.toLowerCase());
    return new Map([...byName].map(([name, same]) => [name, same.map(({ body }) => body.module.toLowerCase())]));
  });
const isAmong = (found: readonly string[] | undefined, modules: readonly string[]): boolean =>
  found?.some((module) => modules.includes('*') || modules.includes(module)) ?? false;

/** The changes that take a profile out of all permissions that name it; for the cascade of its deletion. */
export async function withoutProfile(name: string, { configuration, newId }: Context): Promise<readonly Change[]> {
  const trimmed = <D extends Role | PrincipalInfo>(body: D): D => ({
    ...body,
    permissions: body.permissions?.flatMap((permission) => trim(permission, name)),
  });
  const touched = <D extends Role | PrincipalInfo>({ body }: Stored<D>) => body.permissions?.some((permission) => names(permission, name));
  const roles = (await configuration.list<Role>(roleTag)).filter(touched);
  const infos = (await configuration.list<PrincipalInfo>(principalInfoDocuments.tag)).filter(touched);
  return [
    ...roles.flatMap(
      (before) => writeDocument({ tag: roleTag }, { key: before.body.name, body: trimmed(before.body), newId }, before).changes,
    ),
    ...infos.flatMap(
      (before) => writeDocument(principalInfoDocuments, { key: before.body.identifier, body: trimmed(before.body), newId }, before).changes,
    ),
  ];
}

const names = ({ value }: Permission, name: string): boolean =>
  profilesNamedBy(value).some(({ profile }) => profile === name.toLowerCase());

/** Of a list of profiles the others stay; a permission that names no other goes. */
function trim(permission: Permission, name: string): readonly Permission[] {
  if (!names(permission, name)) return [permission];
  const [group, module, profiles, ...rest] = permission.value.split(':');
  const others = profiles!.split(',').filter((profile) => profile.toLowerCase() !== name.toLowerCase());
  return others.length === 0 ? [] : [{ ...permission, value: [group, module, others.join(','), ...rest].join(':') }];
}
