/** Keys of a profile's certificates: which types, and who makes them. Requests are answered with it, as `capabilities`. */
import { z } from 'zod';
import { duration } from '../../../kernel/schema.ts';
import { keyTypes } from '../../../lib/x509/key-type.ts';

const simple = `(${keyTypes.join('|')})`;
/** `<primary>+<alternate>` for hybrids. */
export const keyTypeSchema = z.string().regex(new RegExp(`^(${simple}(\\+${simple})?)$`), 'unknown key type');

export const cryptoPolicy = z
  .object({
    centralized: z.boolean().optional(),
    decentralized: z.boolean().optional(),
    defaultKeyType: keyTypeSchema.optional(),
    authorizedKeyTypes: z.array(keyTypeSchema).max(1_000).optional(),
    preferredEnrollmentMode: z.enum(['centralized', 'decentralized']).optional(),
    escrow: z.boolean().optional(),
    p12passwordPolicy: z.string().optional(),
    p12passwordMode: z.enum(['random', 'manual']).optional(),
    p12storeEncryptionType: z.string().optional(),
    showP12PasswordOnEnroll: z.boolean().optional(),
    showP12OnEnroll: z.boolean().optional(),
    showP12PasswordOnRecover: z.boolean().optional(),
    showP12OnRecover: z.boolean().optional(),
    keyAvailability: duration.optional(),
  })
  .meta({ id: 'ManagedCertificateProfileCryptoPolicy' });
export type CryptoPolicy = Readonly<z.infer<typeof cryptoPolicy>>;
