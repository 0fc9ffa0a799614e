/** Who may do what on the certificates of a profile, as profiles of any module say it (semantics 3.3). What a level grants: kernel/authorize.ts. */
import { z } from 'zod';

const enforcedIdentityProvider = z
  .object({ type: z.enum(['Local', 'OpenId', 'X509', 'Pop']), name: z.string() })
  .meta({ id: 'EnforcedIdentityProvider' });

export type EnforcedIdentityProvider = Readonly<z.infer<typeof enforcedIdentityProvider>>;

const authorizationLevel = z
  .object({
    accessLevel: z.enum(['everyone', 'authenticated', 'authorized']),
    enforcedIdentityProviders: z.array(enforcedIdentityProvider).optional(),
  })
  .meta({ id: 'AuthorizationLevel' });
export type AuthorizationLevel = Readonly<z.infer<typeof authorizationLevel>>;

const level = authorizationLevel.optional();

export const authorizationLevels = z
  .object({
    enroll: level,
    enrollApi: level,
    requestEnroll: level,
    approveEnroll: level,
    revoke: level,
    requestRevoke: level,
    approveRevoke: level,
    search: authorizationLevel,
    update: authorizationLevel,
    requestUpdate: authorizationLevel,
    approveUpdate: authorizationLevel,
    recover: level,
    recoverApi: level,
    requestRecover: level,
    approveRecover: level,
    migrate: level,
    requestMigrate: level,
    approveMigrate: level,
    renew: level,
    renewApi: level,
    requestRenew: level,
    approveRenew: level,
    auditRequest: level,
  })
  .meta({ id: 'CertificateProfileAuthorizationLevels' });
export type AuthorizationLevels = Readonly<z.infer<typeof authorizationLevels>>;
export type Right = keyof AuthorizationLevels;

/** As permissions spell it: `requestEnroll` → `request_enroll`. */
export const rightName = (right: Right): string => right.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
