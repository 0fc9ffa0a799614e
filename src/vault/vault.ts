/** The vault: seals secrets, keeps private keys sealed and signs with them. Stores nothing: what it seals, its caller keeps. */
import type { Signer, Vault } from '../kernel/context.ts';
import { generatePrivateKey, type PlainKey, readPrivateKey, signerOf } from './private-keys.ts';
import { createSealer, type Sealer } from './seal.ts';

/** The vault as the program that starts it sees it: actions get it without `derive`. */
export type RootVault = Vault & Sealer;

export interface VaultOptions {
  /** 32 bytes, see `vaultKey`. */
  readonly key: Uint8Array;
  /** Gives that many unpredictable bytes. */
  readonly random: (bytes: number) => Uint8Array;
}

const signersMax = 256;

/** Opening and reading a key costs more than an ECDSA signature, so the keys used last stay open. Invariant: found again for the same purpose alone. */
const createSigners = ({ open }: Sealer): Vault['signer'] => {
  const signers = new Map<string, Signer>();
  const opened = (sealed: string, purpose: string): Signer => {
    const pkcs8 = open(sealed, purpose);
    try {
      return signerOf(pkcs8);
    } finally {
      pkcs8.fill(0);
    }
  };
  return (sealed, purpose) => {
    const key = `${sealed} ${purpose}`;
    const signer = signers.get(key) ?? opened(sealed, purpose);
    // A Map remembers the order of insertion: the key used last moves to the end, the first one goes.
    signers.delete(key);
    signers.set(key, signer);
    if (signers.size > signersMax) signers.delete(signers.keys().next().value!);
    return signer;
  };
};

export const createVault = ({ key, random }: VaultOptions): RootVault => {
  const sealer = createSealer(key, random);
  const keep = ({ pkcs8, publicKey }: PlainKey, purpose: string): { readonly sealed: string; readonly publicKey: Uint8Array } => {
    const sealed = sealer.seal(pkcs8, purpose);
    pkcs8.fill(0);
    return { sealed, publicKey };
  };
  return {
    ...sealer,
    signer: createSigners(sealer),
    sealPrivateKey: (pem, purpose) => keep(readPrivateKey(pem), purpose),
    generateKey: async (keyType, purpose) => keep(await generatePrivateKey(keyType), purpose),
  };
};
