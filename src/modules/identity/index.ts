/** What others may use of identity: its operations, logins, the first start, and the words of permissions. */
import type { Operation } from '../../kernel/action.ts';
import { locals } from './locals.ts';
import { principalInfos } from './principal-infos.ts';
import { self } from './principals.ts';
import { roles } from './roles.ts';

export { type Authenticate, type AuthenticatorOptions, createAuthenticator } from './authenticator.ts';
export { type Bootstrapped, bootstrap, bootstrapAction } from './bootstrap.ts';
export { withoutProfile } from './permissions.ts';

export const identityOperations: readonly Operation[] = [...roles.operations, ...principalInfos.operations, ...locals.operations, self];
