/** Nobody gives what they do not hold, to others or through them: not as a permission, not in a role, not by making themselves a login to an
 *  account that may do more. What stands there already is nobody's gift. */
import type { Context } from '../../kernel/context.ts';
import { permissionErrors } from '../../kernel/errors.ts';
import { includes } from '../../kernel/permission.ts';
import type { Permission } from '../../kernel/principal.ts';
import { type PrincipalInfo, principalInfoDocuments } from './documents.ts';
import { permissionsOf } from './principals.ts';

/** Throws for the first permission that is new and that the caller does not hold. */
export function requireHeld(given: readonly Permission[], { principal }: Context, standing: readonly Permission[] = []): void {
  const known = new Set(standing.map(({ value }) => value));
  const lacking = given.find(({ value }) => !known.has(value) && !includes(principal.permissions, value));
  if (lacking) throw permissionErrors.denied(`${principal.identifier} does not hold ${lacking.value} and cannot give it`);
}

/** Throws where the identifier may do what the caller may not: whoever sets its password could do it too. */
export async function requireNoMore(identifier: string, context: Context): Promise<void> {
  const info = await context.configuration.get<PrincipalInfo>(principalInfoDocuments.tag, identifier);
  requireHeld(await permissionsOf(info?.body, context.configuration), context);
}
