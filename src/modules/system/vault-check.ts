/** Whether the vault key is the one that this database was sealed with: a lost or wrong key is one clear error at the start, not a riddle later. */
import type { Action } from '../../kernel/action.ts';
import { writeDocument } from '../../kernel/collection.ts';
import { routeErrors } from '../../kernel/errors.ts';

const [tag, key, purpose] = ['system.vault', 'canary', 'vault/canary'];

/** Throws an error of its own, for whoever starts the service. */
export const checkVault: Action = {
  id: 'system.vault.check',
  permission: 'internal',
  class: 'configuration',
  audit: 'not-audited',
  invalid: routeErrors.unavailable,
  unexpected: routeErrors.unavailable,
  errors: [],
  async run(_, { configuration, vault, newId }) {
    const stored = await configuration.get<{ readonly sealed: string }>(tag, key);
    if (!stored)
      return { changes: writeDocument({ tag }, { key, body: { sealed: vault.seal(Buffer.from(purpose), purpose) }, newId }).changes };
    vault.open(stored.body.sealed, purpose);
    return {};
  },
};
