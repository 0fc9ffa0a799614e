/** What this area stores: the documents' shapes, their collections, and which of them name which. */
import type { Reference } from '../../kernel/configuration.ts';
import type { IdentityProviderRef, Permission } from '../../kernel/principal.ts';
import type { Personal } from './personal.ts';

export interface Role extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly permissions?: readonly Permission[] | undefined;
}

/** What an identifier may do, whichever provider vouches for it. */
export interface PrincipalInfo extends Personal, Readonly<Record<string, unknown>> {
  readonly identifier: string;
  readonly contact?: string | undefined;
  readonly permissions?: readonly Permission[] | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly teams?: readonly string[] | undefined;
  /** False bars the login. */
  readonly enabled: boolean;
  /** Epoch milliseconds, like `lastModification`. */
  readonly creationDate: number;
  readonly lastModification: number;
}

export interface LocalIdentity extends Readonly<Record<string, unknown>> {
  readonly identifier: string;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  /** Of the password, by argon2id; without it there is no login. */
  readonly hash?: string | undefined;
}

export interface IdentityProvider extends IdentityProviderRef, Readonly<Record<string, unknown>> {
  readonly enabled: boolean;
}

export const roleTag = 'security.role';
export const localTag = 'security.identity.local';
export const providerTag = 'security.identity.provider';
export const profileTag = 'certificate.profile';

export const principalInfoDocuments = {
  tag: 'security.principalinfo',
  references: ({ roles = [] }: PrincipalInfo): readonly Reference[] => roles.map((key) => ({ collection: roleTag, key })),
} as const;
