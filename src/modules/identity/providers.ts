/** Identity providers as logins need them. Their collection is not here yet; the first start makes the local one. */
import type { Configuration } from '../../kernel/configuration.ts';
import { type IdentityProvider, providerTag } from './documents.ts';

/** The enabled provider of local identities: by name, or whichever there is. */
export async function findLocalProvider(configuration: Configuration, name?: string): Promise<IdentityProvider | undefined> {
  const providers = (await configuration.list<IdentityProvider>(providerTag)).map(({ body }) => body);
  return providers.find((provider) => provider.type === 'Local' && provider.enabled && (name === undefined || provider.name === name));
}
