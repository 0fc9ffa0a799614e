/** The one decision on a lifecycle action: may this principal do it on this profile? Pure, and its reason can be shown. Default: no. */
import type { IdentityProviderRef, Principal } from './principal.ts';

/** Whom a profile lets do one thing: `AuthorizationLevel` of the contract. */
export interface AuthorizationLevel {
  readonly accessLevel: 'everyone' | 'authenticated' | 'authorized';
  /** Where it names any, the principal must have logged in through one of them. */
  readonly enforcedIdentityProviders?: readonly IdentityProviderRef[] | undefined;
}

export interface Asked {
  readonly module: string;
  readonly profile: string;
  /** What the profile says of the right; absent: nobody may. */
  readonly level: AuthorizationLevel | undefined;
  /** In snake case, as permissions spell it: `request_enroll`. */
  readonly right: string;
}

export type Decision =
  /** `by`: the access level, or the permission that suffices. */
  | { readonly allowed: true; readonly by: string }
  /** `nobody`: the answer is "log in", not "you may not". */
  | { readonly allowed: false; readonly why: string; readonly nobody: boolean };

const allowed = (by: string): Decision => ({ allowed: true, by });
const denied = (why: string): Decision => ({ allowed: false, why, nobody: false });

/** `semantics.md` 3.2. A permission with a filter grants nothing here: which objects it covers is not known. */
export function authorize(principal: Principal, { module, profile, level, right }: Asked): Decision {
  if (!level) return denied(`profile '${profile}' does not offer ${right}`);
  if (level.accessLevel === 'everyone') return allowed('everyone');
  if (principal.identifier === undefined) return { allowed: false, why: 'nobody is logged in', nobody: true };
  const providers = level.enforcedIdentityProviders ?? [];
  if (providers.length > 0 && !providers.some((provider) => isThrough(principal, provider))) {
    return denied(
      `${right} on profile '${profile}' needs a login through ${providers.map(({ type, name }) => `${type} '${name}'`).join(' or ')}`,
    );
  }
  if (level.accessLevel === 'authenticated') return allowed('authenticated');
  const required = `lifecycle:${module}:${profile}:${right}`;
  const permission = level.accessLevel === 'authorized' ? principal.grant(required) : undefined;
  return permission && permission.filter === undefined ? allowed(permission.value) : denied(`${principal.identifier} lacks ${required}`);
}

const isThrough = ({ provider }: Principal, { type, name }: IdentityProviderRef): boolean =>
  provider?.type === type && provider.name === name;
