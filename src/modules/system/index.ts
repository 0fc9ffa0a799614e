/** The service itself. */
export { checkVault, type VaultChecked } from './vault-check.ts';
