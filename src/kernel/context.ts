/** What an action may touch. Built once a request and handed in; nothing here is global. The only reader of clock and randomness. */
import { randomBytes } from 'node:crypto';
import type { Configuration } from './configuration.ts';
import { nobody, type Principal } from './principal.ts';

/** A statement with bound values; `name` marks one worth preparing. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Reading only: whatever is written is returned by the action as changes. */
export interface Reader {
  rows<R>(statement: Statement): Promise<R[]>;
}

/** Signs with a private key that never leaves the vault. */
export interface Signer {
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Uint8Array;
  /** `digest` is a digest of OpenSSL (`sha256`) or null where the algorithm brings its own. */
  sign(data: Uint8Array, digest: string | null): Promise<Uint8Array>;
}

/** The vault as actions see it: what it sealed for one purpose it opens for that purpose alone. */
export interface Vault {
  seal(plaintext: Uint8Array, purpose: string): string;
  open(sealed: string, purpose: string): Uint8Array;
  signer(sealedKey: string, purpose: string): Signer;
  /** Takes an unencrypted private key (PEM). */
  sealPrivateKey(pem: string, purpose: string): { readonly sealed: string; readonly publicKey: Uint8Array };
  generateKey(keyType: string, purpose: string): Promise<{ readonly sealed: string; readonly publicKey: Uint8Array }>;
}

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where time and randomness come from; a test moves the clock and seeds the rest. */
export interface Sources {
  /** Epoch milliseconds. */
  now(): number;
  random(bytes: number): Uint8Array;
}
export const systemSources: Sources = { now: () => Date.now(), random: pooledRandom(4_096) };

/** Randomness in small pieces of a larger draw: an id or a serial number costs no call of its own. No byte is given out twice. */
function pooledRandom(poolBytes: number): (bytes: number) => Uint8Array {
  let pool = Buffer.alloc(0);
  return (bytes) => {
    if (bytes > poolBytes / 8) return randomBytes(bytes);
    if (pool.length < bytes) pool = randomBytes(poolBytes);
    const piece = pool.subarray(0, bytes);
    pool = pool.subarray(bytes);
    return piece;
  };
}

export interface Context extends Sources {
  readonly principal: Principal;
  readonly configuration: Configuration;
  readonly database: Reader;
  readonly vault: Vault;
  readonly log: Log;
  /** Name of this process in events. */
  readonly node: string;
  /** The address that others reach the service at, without a trailing slash. */
  readonly publicUrl: string;
  /** How deep parentheses nest in a search query, at most. */
  readonly queryDepthMax: number;
  /** What is known of the call, for events: address, method, path. */
  readonly caller: { readonly ip?: string; readonly verb?: string; readonly path?: string };
  /** The same call with the configuration as it is now: for running an action again after it lost a condition. */
  renewed(): Promise<Context>;
  /** 24 hexadecimal characters: 4 bytes of time, then 8 of randomness, so that ids made later sort later. */
  newId(): string;
}

export function newId({ now, random }: Sources): string {
  const seconds = Math.floor(now() / 1000)
    .toString(16)
    .padStart(8, '0');
  return seconds + Buffer.from(random(8)).toString('hex');
}

/** What all calls of one process share. */
export interface ContextParts extends Pick<Context, 'database' | 'vault' | 'log' | 'node' | 'publicUrl' | 'queryDepthMax'> {
  readonly sources: Sources;
  /** The configuration as of now. */
  configuration(): Promise<Configuration>;
}

/** Makes the context of a call: the caller is what is known before anybody is known to call. */
export function createContexts({
  sources,
  configuration,
  ...shared
}: ContextParts): (caller: Context['caller'], principal?: Principal) => Promise<Context> {
  const fixed = { ...shared, now: () => sources.now(), random: (bytes: number) => sources.random(bytes), newId: () => newId(sources) };
  const make = async (caller: Context['caller'], principal: Principal = nobody): Promise<Context> => ({
    ...fixed,
    caller,
    principal,
    configuration: await configuration(),
    renewed: () => make(caller, principal),
  });
  return make;
}
