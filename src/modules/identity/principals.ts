/** Principals made from documents, and what a caller may read of itself. */
import { z } from 'zod';
import { operation } from '../../kernel/action.ts';
import type { Configuration } from '../../kernel/configuration.ts';
import { authErrors } from '../../kernel/errors.ts';
import { compilePermissions } from '../../kernel/permission.ts';
import type { IdentityProviderRef, Permission, Principal } from '../../kernel/principal.ts';
import { localizedTexts } from '../../kernel/schema.ts';
import { type LocalIdentity, type PrincipalInfo, principalInfoDocuments, type Role, roleTag } from './documents.ts';
import { distinct, permissionList } from './permissions.ts';
import { personal } from './personal.ts';

interface Vouched {
  readonly identifier: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly provider: IdentityProviderRef;
}

/** Undefined where the principal info bars the login. An identifier without one logs in and has no rights. */
export const localPrincipal = (
  identity: LocalIdentity,
  { type, name }: IdentityProviderRef,
  configuration: Configuration,
): Promise<Principal | undefined> =>
  configuration.memo(`identity.principal ${name} ${identity.identifier}`, () =>
    makePrincipal({ identifier: identity.identifier, name: identity.name, email: identity.email, provider: { type, name } }, configuration),
  );

/** Direct permissions and those of the roles together. */
export async function permissionsOf(
  { permissions = [], roles = [] }: Pick<PrincipalInfo, 'permissions' | 'roles'> = {},
  configuration: Configuration,
): Promise<readonly Permission[]> {
  const ofRoles = await Promise.all(roles.map(async (role) => (await configuration.get<Role>(roleTag, role))?.body.permissions ?? []));
  return distinct([...permissions, ...ofRoles.flat()]);
}

async function makePrincipal({ identifier, name, email, provider }: Vouched, configuration: Configuration): Promise<Principal | undefined> {
  const info = (await configuration.get<PrincipalInfo>(principalInfoDocuments.tag, identifier))?.body;
  if (info && !info.enabled) return undefined;
  const permissions = await permissionsOf(info, configuration);
  return {
    identifier,
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    provider,
    roles: info?.roles ?? [],
    teams: info?.teams ?? [],
    permissions,
    grant: compilePermissions(permissions),
  };
}

const identity = z
  .object({
    identifier: z.string(),
    email: z.string().optional(),
    name: z.string().optional(),
    identityProviderType: z.enum(['Local', 'OpenId', 'X509']).optional(),
    identityProviderName: z.string().optional(),
    certificate: z.string().optional(),
  })
  .meta({ id: 'Identity' });

const teamInfo = z.object({
  name: z.string().optional(),
  displayName: localizedTexts,
  description: localizedTexts,
  externallyManaged: z.boolean().optional(),
  manager: z.boolean().optional(),
});

const principalAnswer = z
  .object({
    identity,
    permissions: permissionList,
    roles: z.array(z.string()),
    teams: z.array(z.string()),
    teamInfos: z.array(teamInfo),
    preferences: personal.preferences,
    customDashboards: personal.customDashboards,
  })
  .meta({ id: 'PrincipalResponse' });

export const self = operation({
  tag: 'security.principal',
  class: 'configuration',
  id: 'security.principal.self',
  method: 'GET',
  path: '/api/v1/security/principals/self',
  permission: 'public',
  audit: 'not-audited',
  capabilities: ['webra', 'events', 'configuration'],
  invalid: authErrors.unexpected,
  unexpected: authErrors.unexpected,
  errors: [],
  answers: { 200: principalAnswer, 204: null },
  async run(_, { principal, configuration }) {
    const { identifier, name, email, provider, permissions, roles, teams } = principal;
    if (identifier === undefined) return {};
    const info = (await configuration.get<PrincipalInfo>(principalInfoDocuments.tag, identifier))?.body;
    const from = provider && provider.type !== 'Pop' ? { identityProviderType: provider.type, identityProviderName: provider.name } : {};
    return {
      answer: {
        identity: { identifier, email, name, ...from },
        permissions,
        roles,
        teams,
        teamInfos: [],
        preferences: info?.preferences,
        customDashboards: info?.customDashboards ?? [],
      },
    };
  },
});
