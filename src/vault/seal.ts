/**
 * Sealing of secrets at rest: AES-256-GCM under keys derived from the vault key. Knows nothing of what the secrets are.
 * Invariant: no error names anything of a secret, of a key or of why opening failed.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';

/** A key or a sealed secret that cannot be used. Its message may be logged. */
export class VaultError extends Error {
  override readonly name = 'VaultError';
}

export interface Sealer {
  /** `purpose` says where the secret stands, family first: `pki.connector/lab/caKey`. It opens for the same purpose alone. */
  seal(plaintext: Uint8Array, purpose: string): string;
  /** Throws VaultError for another purpose, another vault key, or text that was changed. */
  open(sealed: string, purpose: string): Uint8Array;
  /** 32 bytes that are the same for the same vault key and label, and tell nothing of either or of any other label. */
  derive(label: string): Uint8Array;
}

export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const version = 'v1.';

/** `random` gives that many unpredictable bytes: a nonce used twice under one key would give both secrets away. */
export const createSealer = (key: Uint8Array, random: (bytes: number) => Uint8Array): Sealer => {
  if (key.length !== keyBytes) throw new VaultError(`The vault key must have ${keyBytes} bytes, not ${key.length}`);
  const root = Uint8Array.from(key);
  const hkdf = (info: string): Uint8Array => new Uint8Array(hkdfSync('sha256', root, '', info, keyBytes));

  // Families are words of the program, so this stays small.
  const familyKeys = new Map<string, Uint8Array>();
  const familyKey = (purpose: string): Uint8Array => {
    const [family = ''] = purpose.split('/', 1);
    if (family === '') throw new VaultError('A secret is sealed for a purpose');
    const known = familyKeys.get(family) ?? hkdf(`perennial/seal/${version}${family}`);
    familyKeys.set(family, known);
    return known;
  };
  const bound = (purpose: string): Buffer => Buffer.from(version + purpose);

  const seal: Sealer['seal'] = (plaintext, purpose) => {
    const nonce = random(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', familyKey(purpose), nonce, { authTagLength: tagBytes }).setAAD(bound(purpose));
    const parts = [nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()];
    return version + Buffer.concat(parts).toString('base64url');
  };

  const open: Sealer['open'] = (sealed, purpose) => {
    const refused = new VaultError(`The secret sealed for ${purpose} cannot be opened: another vault key sealed it, or it was changed`);
    const text = sealed.startsWith(version) ? sealed.slice(version.length) : '';
    const bytes = Buffer.from(text, 'base64url');
    // Base64 has several spellings of the same bytes; only the one that we write is ours.
    if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64url') !== text) throw refused;
    const nonce = bytes.subarray(0, nonceBytes);
    const decipher = createDecipheriv('aes-256-gcm', familyKey(purpose), nonce, { authTagLength: tagBytes })
      .setAAD(bound(purpose))
      .setAuthTag(bytes.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    } catch {
      throw refused;
    }
  };

  return { seal, open, derive: (label) => hkdf(`perennial/derive/${label}`) };
};
