/** The grammar of permissions, and the sections that they guard. Who holds which is the business of `modules/identity`. */
import type { Permission } from './principal.ts';

/** The sections of `semantics.md` 3.1 that something here asks for. A right (`audit`, `manage`) follows each. */
export const sections = {
  label: ['configuration:system:label'],
  queue: ['configuration:pki', 'configuration:system:queue'],
  connector: ['configuration:pki'],
  authority: ['configuration:ca'],
  webraProfile: ['configuration:protocol:webra'],
  role: ['configuration:security:access-management:role'],
  localIdentity: ['configuration:security:access-management:local-identity'],
  principalInfo: ['configuration:security:access-management:principal-info'],
  identityProvider: ['configuration:security:access-management:identity-provider'],
  event: ['configuration:system:event'],
} as const satisfies Record<string, readonly string[]>;

export type Right = 'audit' | 'manage';
/** Any one of the alternatives suffices. */
export const needs = (section: readonly string[], right: Right): readonly string[] => section.map((path) => `${path}:${right}`);

const wellFormed = /^[0-9A-Za-z*_.\- ]+(,[0-9A-Za-z*_.\- ]+)*(:[0-9A-Za-z*_.\- ]+(,[0-9A-Za-z*_.\- ]+)*){0,4}$/;
export const isPermission = (value: string): boolean => value.length <= 500 && wellFormed.test(value);

type Part = ReadonlySet<string> | 'any';
const partOf = (text: string): Part => {
  const choices = text.split(',');
  return choices.includes('*') ? 'any' : new Set(choices);
};

const answersMax = 10_000;

/** Reads permissions once; the result answers which of them covers a required value such as `configuration:ca:audit`.
 *  Those without a filter are asked first: where one of them suffices, a filter takes nothing away. */
export function compilePermissions(permissions: readonly Permission[]): (required: string) => Permission | undefined {
  const wide = permissions.filter(({ filter }) => filter === undefined);
  const narrow = permissions.filter(({ filter }) => filter !== undefined);
  const compiled = [...wide, ...narrow]
    .filter(({ value }) => isPermission(value))
    .map((permission) => ({ permission, parts: partsOf(permission.value) }));
  const answers = new Map<string, Permission | undefined>();
  return (required) => {
    if (answers.has(required)) return answers.get(required);
    const wanted = required.toLowerCase().split(':');
    const found = compiled.find(({ parts }) => covers(parts, wanted))?.permission;
    if (answers.size < answersMax) answers.set(required, found);
    return found;
  };
}
const partsOf = (value: string): readonly Part[] => value.toLowerCase().split(':').map(partOf);

/** Parts that a granted value leaves out at its end are `*`; `manage` includes `audit`. A value longer than what is asked grants nothing. */
function covers(parts: readonly Part[], wanted: readonly string[]): boolean {
  if (parts.slice(wanted.length).some((part) => part !== 'any')) return false;
  return wanted.every((want, i) => {
    const part = parts[i] ?? 'any';
    return part === 'any' || part.has(want) || (want === 'audit' && i === wanted.length - 1 && part.has('manage'));
  });
}

const groups = ['configuration', 'lifecycle', 'discovery'];

/** Whether the permissions cover all that `value` covers, each group by one of them. What only several cover together counts as not covered;
 *  a value of no group covers nothing that is ever asked for, so everybody has it. */
export function includes(held: readonly Permission[], value: string): boolean {
  const [group, ...rest] = partsOf(value);
  const outer = held.filter((one) => one.filter === undefined && isPermission(one.value)).map((one) => partsOf(one.value));
  return groups
    .filter((name) => group === 'any' || group?.has(name))
    .every((name) => outer.some((parts) => isWithin([new Set([name]), ...rest], parts)));
}

/** In configuration the last part is a right, and `manage` includes `audit`. */
function isWithin(inner: readonly [ReadonlySet<string>, ...Part[]], outer: readonly Part[]): boolean {
  const rightAt = inner[0].has('configuration') ? inner.length - 1 : -1;
  return outer.every((part, i) => {
    const wanted = inner[i] ?? 'any';
    if (part === 'any' || wanted === 'any') return part === 'any';
    return [...wanted].every((want) => part.has(want) || (i === rightAt && want === 'audit' && part.has('manage')));
  });
}

/** Whether a lifecycle permission names profiles, and which: pairs of lower-case module (`*` = any) and lower-case profile name. */
export function profilesNamedBy(value: string): readonly { readonly modules: readonly string[]; readonly profile: string }[] {
  const [group, module = '*', profile = '*'] = value.toLowerCase().split(':');
  const profiles = profile.split(',');
  if (group !== 'lifecycle' || profiles.includes('*')) return [];
  return profiles.map((name) => ({ modules: module.split(','), profile: name }));
}
