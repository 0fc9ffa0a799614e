/** Whether the vault key is the one that this database was sealed with: a lost or wrong key is one clear error at the start, not a riddle later. */
import type { Action } from '../../kernel/action.ts';
import { writeDocument } from '../../kernel/collection.ts';
import type { Vault } from '../../kernel/context.ts';
import { routeErrors } from '../../kernel/errors.ts';
import { VaultError } from '../../vault/seal.ts';

const [tag, key, purpose] = ['system.vault', 'canary', 'vault/canary'];

/** Answers whether it is; on a new database the key that is given becomes the one. */
export interface VaultChecked {
  readonly fits: boolean;
}

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
    if (stored) return { answer: { fits: opens(vault, stored.body.sealed) } satisfies VaultChecked };
    const body = { sealed: vault.seal(Buffer.from(purpose), purpose) };
    return { answer: { fits: true } satisfies VaultChecked, changes: writeDocument({ tag }, { key, body, newId }).changes };
  },
};

function opens(vault: Vault, sealed: string): boolean {
  try {
    vault.open(sealed, purpose);
    return true;
  } catch (error) {
    if (error instanceof VaultError) return false;
    throw error;
  }
}
