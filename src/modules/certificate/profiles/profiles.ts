/** Certificate profiles: what can be asked for, by whom, and which connector issues it. One variant a module. */
import { z } from 'zod';
import { type Change, defineTable, remove } from '../../../kernel/change.ts';
import { defineCollection } from '../../../kernel/collection.ts';
import type { Configuration, Stored } from '../../../kernel/configuration.ts';
import type { Context } from '../../../kernel/context.ts';
import { collectionErrors, defineErrors } from '../../../kernel/errors.ts';
import { sections } from '../../../kernel/permission.ts';
import { withoutProfile } from '../../identity/index.ts';
import { flawOf } from './elements.ts';
import type { EnforcedIdentityProvider } from './levels.ts';
import { type WebraProfile, webraNotYet, webraPartNotBuilt, webraProfile } from './webra.ts';

/** Of all variants of the contract: what the list can be narrowed to. */
const modules = ['webra', 'est', 'scep', 'acme', 'acme-external', 'crmp', 'wcce', 'intune', 'intunepkcs', 'jamf', 'monitored'];

const tag = 'certificate.profile';
const errors = collectionErrors('CERT-PROFILE', 'Certificate Profile', {
  referenced: 403,
  referencedNumber: '006',
  internal: 'Unexpected Error',
});
const { module: invalidModule } = defineErrors('CERT-PROFILE', { module: ['005', 400, 'Invalid Module'] });

export const findProfile = (name: string, configuration: Configuration): Promise<Stored<WebraProfile> | undefined> =>
  configuration.get<WebraProfile>(tag, name);
export const listProfiles = (configuration: Configuration): Promise<readonly Stored<WebraProfile>[]> =>
  configuration.list<WebraProfile>(tag);

export const profiles = defineCollection<WebraProfile>({
  tag,
  id: 'certificate.profile',
  path: '/api/v1/certificate/profiles',
  detail: 'profileName',
  schema: webraProfile,
  errors,
  moreErrors: { list: [invalidModule] },
  section: sections.webraProfile,
  query: z.object({ modules: z.preprocess((value) => [value].flat(), z.array(z.string())).optional() }),
  notYet: webraNotYet,
  async accept(draft, { configuration }) {
    const missing = webraPartNotBuilt(draft);
    if (missing) throw errors.invalid(`${missing} is not available yet`);
    const flaw = flawOf(draft.certificateTemplate);
    if (flaw) throw errors.invalid(`certificateTemplate.${flaw}`);
    await requireProviders(draft, configuration);
    return draft;
  },
  references: (profile) => [
    { collection: 'pki.connector', key: profile.pkiConnector },
    ...(profile.certificateTemplate.labels ?? []).map(({ label }) => ({ collection: 'certificate.label', key: label })),
    ...enforcedProviders(profile).map(({ name }) => ({ collection: 'security.identity.provider', key: name })),
  ],
  filter({ modules: asked = [] }) {
    const wanted = [asked].flat();
    const unknown = wanted.find((module) => !modules.includes(module));
    if (unknown !== undefined) throw invalidModule(`there is no module '${unknown}'`);
    return ({ module }) => wanted.length === 0 || wanted.includes(module);
  },
  async release({ name }, { database }) {
    const text = "select id from request where profile = $1 and status in ('approved', 'in_progress') limit 1";
    const [busy] = await database.rows<{ id: string }>({ text, values: [name] });
    if (busy) throw errors.referenced!(`request ${busy.id} is being carried out`);
  },
  cascade: async ({ name }, context) => [...(await withoutProfile(name, context)), ...(await requestsOf(name, context))],
});

const enforcedProviders = ({ authorizationLevels }: WebraProfile): readonly EnforcedIdentityProvider[] =>
  Object.values(authorizationLevels).flatMap((level) => level?.enforcedIdentityProviders ?? []);

/** That they exist is asked by the collection, as of every reference. */
async function requireProviders(profile: WebraProfile, configuration: Configuration): Promise<void> {
  for (const { type, name } of enforcedProviders(profile)) {
    const stored = await configuration.get<{ readonly type: string }>('security.identity.provider', name);
    if (stored && stored.body.type !== type) throw errors.invalid(`identity provider '${name}' is not of type ${type}`);
  }
}

const requestTable = defineTable('request', { id: 'text', status: 'text' }, ['id']);

/** Each as it is now: one that moves on in between makes the deletion look again. */
async function requestsOf(name: string, { database }: Context): Promise<readonly Change[]> {
  const text = 'select id, status from request where profile = $1';
  const rows = await database.rows<{ id: string; status: string }>({ text, values: [name] });
  return rows.map(({ id, status }) => remove(requestTable, { id }, { status }));
}
