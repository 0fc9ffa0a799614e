/** The service itself. */
export { checkVault } from './vault-check.ts';
