/** Roles: named sets of permissions. Deleting one takes it from every principal. */
import { z } from 'zod';
import type { Change } from '../../kernel/change.ts';
import { defineCollection, writeDocument } from '../../kernel/collection.ts';
import type { Context } from '../../kernel/context.ts';
import { collectionErrors } from '../../kernel/errors.ts';
import { sections } from '../../kernel/permission.ts';
import { names, text } from '../../kernel/schema.ts';
import { keepAdministrator } from './administrators.ts';
import { type PrincipalInfo, principalInfoDocuments, type Role, roleTag } from './documents.ts';
import { requireHeld } from './grants.ts';
import { acceptPermissions, permissionList } from './permissions.ts';

const errors = collectionErrors('ROLE', 'Role');

const schema = z.object({ name: names.plain, description: text.optional(), permissions: permissionList.optional() }).meta({ id: 'Role' });

async function accept(draft: Role, context: Context, stored?: Role): Promise<Role> {
  const role = draft.permissions ? { ...draft, permissions: await acceptPermissions(draft.permissions, errors.invalid, context) } : draft;
  requireHeld(role.permissions ?? [], context, stored?.permissions);
  if (stored) await keepAdministrator({ collection: roleTag, key: role.name, body: role }, context);
  return role;
}

async function withoutRole({ name }: Role, { configuration, newId }: Context): Promise<readonly Change[]> {
  const infos = await configuration.list<PrincipalInfo>(principalInfoDocuments.tag);
  const holders = infos.filter(({ body }) => body.roles?.includes(name));
  return holders.flatMap((before) => {
    const body = { ...before.body, roles: before.body.roles?.filter((role) => role !== name) };
    return writeDocument<PrincipalInfo>(principalInfoDocuments, { key: body.identifier, body, newId }, before).changes;
  });
}

export const roles = defineCollection<Role>({
  tag: roleTag,
  id: roleTag,
  path: '/api/v1/security/roles',
  detail: 'roleName',
  schema,
  errors,
  moreErrors: { delete: [errors.invalid] },
  section: sections.role,
  audit: { module: 'security', add: 'SEC-ROLE-ADD', update: 'SEC-ROLE-UPDATE', delete: 'SEC-ROLE-DELETE' },
  accept,
  release: ({ name }, context) => keepAdministrator({ collection: roleTag, key: name }, context),
  cascade: withoutRole,
});
