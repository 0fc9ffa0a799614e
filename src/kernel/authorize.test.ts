import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AuthorizationLevel, authorize } from './authorize.ts';
import { compilePermissions } from './permission.ts';
import { type IdentityProviderRef, nobody, type Permission, type Principal } from './principal.ts';

const local: IdentityProviderRef = { type: 'Local', name: 'local' };
const who = (permissions: readonly Permission[] = [], provider: IdentityProviderRef = local): Principal => ({
  identifier: 'ada',
  provider,
  roles: [],
  teams: [],
  permissions,
  grant: compilePermissions(permissions),
});
const holding = (...values: readonly string[]) => who(values.map((value) => ({ value })));
const level = (
  accessLevel: AuthorizationLevel['accessLevel'],
  ...enforcedIdentityProviders: readonly IdentityProviderRef[]
): AuthorizationLevel => ({
  accessLevel,
  enforcedIdentityProviders,
});
const filter = 'team equals "blue"';

const table: readonly (readonly [what: string, Principal, AuthorizationLevel | undefined, expected: string])[] = [
  ['a level that is absent', holding('lifecycle:*'), undefined, 'no'],
  ['everyone, nobody', nobody, level('everyone'), 'everyone'],
  ['everyone, whatever provider is enforced', nobody, level('everyone', local), 'everyone'],
  ['authenticated, nobody', nobody, level('authenticated'), 'log in'],
  ['authenticated, somebody', who(), level('authenticated'), 'authenticated'],
  ['authenticated through the enforced provider', who(), level('authenticated', { type: 'X509', name: 'x' }, local), 'authenticated'],
  ['authenticated through another name', who([], { type: 'Local', name: 'other' }), level('authenticated', local), 'no'],
  ['authenticated through another type', who([], { type: 'OpenId', name: 'local' }), level('authenticated', local), 'no'],
  ['authorized, nobody', nobody, level('authorized'), 'log in'],
  ['authorized, nobody, provider enforced', nobody, level('authorized', local), 'log in'],
  ['authorized without a permission', who(), level('authorized'), 'no'],
  ['authorized for just this', holding('lifecycle:webra:web:request_enroll'), level('authorized'), 'lifecycle:webra:web:request_enroll'],
  [
    'authorized without regard to case',
    holding('Lifecycle:WebRA:WEB:Request_Enroll'),
    level('authorized'),
    'Lifecycle:WebRA:WEB:Request_Enroll',
  ],
  ['authorized for all', holding('lifecycle'), level('authorized'), 'lifecycle'],
  ['authorized for another right', holding('lifecycle:webra:web:enroll'), level('authorized'), 'no'],
  ['authorized on another profile', holding('lifecycle:webra:other:*'), level('authorized'), 'no'],
  ['authorized on another module', holding('lifecycle:acme:*:*'), level('authorized'), 'no'],
  ['authorized for configuration only', holding('configuration:*', 'discovery:*'), level('authorized'), 'no'],
  ['authorized through the wrong provider', holding('lifecycle:*'), level('authorized', { type: 'X509', name: 'x' }), 'no'],
  ['authorized by a permission with a filter', who([{ value: 'lifecycle:*', filter }]), level('authorized'), 'no'],
  [
    'authorized with and without a filter',
    who([{ value: 'lifecycle:*', filter }, { value: 'lifecycle' }]),
    level('authorized'),
    'lifecycle',
  ],
  ['a level that nobody knows', holding('lifecycle:*'), { accessLevel: 'anyone' } as unknown as AuthorizationLevel, 'no'],
];

describe('authorize', () => {
  for (const [what, principal, levelOfRight, expected] of table) {
    it(`${what}: ${expected}`, () => {
      const decision = authorize(principal, { module: 'webra', profile: 'web', level: levelOfRight, right: 'request_enroll' });
      assert.equal(decision.allowed ? decision.by : decision.nobody ? 'log in' : 'no', expected);
      if (!decision.allowed) assert.notEqual(decision.why, '');
    });
  }
});
