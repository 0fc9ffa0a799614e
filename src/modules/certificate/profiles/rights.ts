/** What a caller may do on the certificates of a profile. */
import { authorize, type Decision } from '../../../kernel/authorize.ts';
import type { Principal } from '../../../kernel/principal.ts';
import { type Right, rightName } from './levels.ts';
import type { WebraProfile } from './webra.ts';

export const decide = (principal: Principal, profile: WebraProfile, right: Right): Decision =>
  authorize(principal, {
    module: profile.module,
    profile: profile.name,
    level: profile.authorizationLevels[right],
    right: rightName(right),
  });

export const holds = (principal: Principal, profile: WebraProfile, right: Right): boolean => decide(principal, profile, right).allowed;
