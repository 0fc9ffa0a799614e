/** Checks signatures. What takes less time than handing it to another thread is checked at once; the rest off the event loop. */
import { type KeyObject, verify } from 'node:crypto';
import type { SignatureAlgorithm } from './algorithm.ts';
import type { KeyType } from './key-type.ts';

/** Some 20 to 100 µs each; a thread costs that in waking up alone. Others take up to milliseconds. */
const QUICK: ReadonlySet<string> = new Set<KeyType>(['rsa-2048', 'rsa-3072', 'rsa-4096', 'ec-secp256r1', 'ed-25519']);

export interface Signed {
  readonly data: Uint8Array;
  readonly signature: Uint8Array;
  readonly algorithm: SignatureAlgorithm;
}
/** A key at hand, or its SubjectPublicKeyInfo. */
type Key = KeyObject | Uint8Array;

/** False also for a key that cannot be read. The caller has seen that the algorithm is of the key's family: OpenSSL would make up a digest. */
export function isSignedBy(key: Key, keyType: KeyType | undefined, { data, signature, algorithm }: Signed): Promise<boolean> {
  const material = key instanceof Uint8Array ? ({ key: Buffer.from(key), format: 'der', type: 'spki' } as const) : key;
  return new Promise((resolve) => {
    try {
      if (QUICK.has(keyType ?? '')) return resolve(verify(algorithm.digest, data, material, signature));
      verify(algorithm.digest, data, material, signature, (error, valid) => resolve(error === null && valid));
    } catch {
      resolve(false);
    }
  });
}
