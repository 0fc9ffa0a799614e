/** Who is calling. Made by `modules/identity`; asked by `perform` (may this be done at all?) and by actions (on which objects?). */

export interface Permission {
  readonly value: string;
  /** hpql: restricts a lifecycle permission to objects with these labels or teams. */
  readonly filter?: string | undefined;
}

export interface IdentityProviderRef {
  readonly type: 'Local' | 'OpenId' | 'X509' | 'Pop';
  readonly name: string;
}

export interface Principal {
  /** Absent when nobody is logged in. */
  readonly identifier?: string;
  readonly name?: string;
  readonly email?: string;
  readonly provider?: IdentityProviderRef;
  readonly roles: readonly string[];
  readonly teams: readonly string[];
  /** Direct permissions and those of the roles together. */
  readonly permissions: readonly Permission[];
  /** The permission that covers `required`, or undefined. One suffices; nothing denies. */
  grant(required: string): Permission | undefined;
}

export const nobody: Principal = { roles: [], teams: [], permissions: [], grant: () => undefined };

/** What a caller showed of itself. */
export interface Credentials {
  /** `X-API-ID`, `X-API-KEY`, `X-API-IDPROV`. */
  readonly apiId?: string;
  readonly apiKey?: string;
  readonly provider?: string;
}
