/** Private keys in and out of node:crypto: reading what people have, making new ones, signing off the event loop. Knows nothing of sealing. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { Signer } from '../kernel/context.ts';
import { VaultError } from './seal.ts';

/** PKCS#8 DER, unencrypted: to be sealed, then overwritten. And the SubjectPublicKeyInfo of the same key, DER. */
export interface PlainKey {
  readonly pkcs8: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** Twice the PEM of an RSA key of 16,384 bits. */
const textMax = 25_000;

const pemTypes: Readonly<Record<string, 'pkcs8' | 'sec1' | 'pkcs1'>> = {
  'PRIVATE KEY': 'pkcs8',
  'EC PRIVATE KEY': 'sec1',
  'RSA PRIVATE KEY': 'pkcs1',
};

const signingKey = /^(rsa|ec|ed25519|ed448|ml-dsa-.*|slh-dsa-.*)$/;

const spki = (key: KeyObject): Uint8Array => createPublicKey(key).export({ format: 'der', type: 'spki' });

const plain = (key: KeyObject): PlainKey => ({ pkcs8: key.export({ format: 'der', type: 'pkcs8' }), publicKey: spki(key) });

interface Block {
  readonly label: string;
  readonly content: string;
}

const pemBlocks = (text: string): readonly Block[] =>
  [...text.matchAll(/-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*(?:-[^-]+)*)-----END \1-----/g)].map(([, label, content]) => ({
    label: label!,
    content: content!,
  }));

/** The one private key of a PEM text; `openssl ecparam -genkey` writes the parameters of the curve before it. */
const privateBlock = (text: string): Block => {
  const blocks = pemBlocks(text).filter(({ label }) => label !== 'EC PARAMETERS');
  const [block, second] = blocks;
  if (block === undefined) throw new VaultError('A private key is expected as PEM');
  if (second !== undefined) throw new VaultError(`One private key is expected, not ${blocks.length} PEM blocks`);
  if (block.label === 'ENCRYPTED PRIVATE KEY' || block.content.includes('ENCRYPTED'))
    throw new VaultError('The private key is encrypted: remove its passphrase first');
  return block;
};

const decode = (text: string): KeyObject => {
  const { label, content } = privateBlock(text);
  const type = Object.hasOwn(pemTypes, label) ? pemTypes[label]! : undefined;
  if (type === undefined) throw new VaultError(`A private key as PKCS#8, SEC1 or PKCS#1 is expected, not ${label}`);
  try {
    return createPrivateKey({ key: Buffer.from(content, 'base64'), format: 'der', type });
  } catch {
    throw new VaultError(`The PEM block ${label} holds no private key that can be read`);
  }
};

// RFC 5480 §2.1.1: id-ecPublicKey, then the name of the curve and never its parameters, which OpenSSL would take and keep.
const namedCurve = Buffer.from('06072a8648ce3d020106', 'hex');

/** Reads an unencrypted PKCS#8, SEC1 or PKCS#1 key from PEM. Throws VaultError with words that may be shown to whoever sent it. */
export const readPrivateKey = (pem: string): PlainKey => {
  if (pem.length > textMax) throw new VaultError(`The private key is longer than ${textMax} characters`);
  const key = decode(pem);
  const type = key.asymmetricKeyType ?? 'unknown';
  if (!signingKey.test(type)) throw new VaultError(`A key of type ${type} cannot sign`);
  if (type === 'ec' && !Buffer.from(spki(key)).includes(namedCurve)) throw new VaultError('The key spells its curve out: it must name it');
  return plain(key);
};

const generate = promisify(generateKeyPair);

const ec = (namedCurve: string) => (): Promise<{ privateKey: KeyObject }> => generate('ec', { namedCurve });
const rsa = (modulusLength: number) => (): Promise<{ privateKey: KeyObject }> => generate('rsa', { modulusLength });

const generators: ReadonlyMap<string, () => Promise<{ privateKey: KeyObject }>> = new Map([
  ['ec-secp256r1', ec('prime256v1')],
  ['ec-secp384r1', ec('secp384r1')],
  ['ec-secp521r1', ec('secp521r1')],
  ['rsa-2048', rsa(2048)],
  ['rsa-3072', rsa(3072)],
  ['rsa-4096', rsa(4096)],
]);

/** A new key of a key type as the wire names it. Throws VaultError for one that is not offered. */
export const generatePrivateKey = async (keyType: string): Promise<PlainKey> => {
  const make = generators.get(keyType);
  if (make === undefined) throw new VaultError(`Keys of type ${keyType} are not made here, only ${[...generators.keys()].join(', ')}`);
  return plain((await make()).privateKey);
};

// Only the form with a callback signs in the thread pool.
const signInPool = promisify(sign);
/** Signing takes some 30 µs: less than it takes to wake another thread. */
const isQuick = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  asymmetricKeyType === 'ed25519' || asymmetricKeyDetails?.namedCurve === 'prime256v1';

/** ECDSA signatures come as DER, RSA as PKCS#1 v1.5. The caller may overwrite `pkcs8` afterwards. */
export const signerOf = (pkcs8: Uint8Array): Signer => {
  const view = Buffer.from(pkcs8.buffer, pkcs8.byteOffset, pkcs8.byteLength);
  const key = createPrivateKey({ key: view, format: 'der', type: 'pkcs8' });
  const options = { key, dsaEncoding: 'der' } as const;
  const quick = isQuick(key);
  return { publicKey: spki(key), sign: async (data, digest) => (quick ? sign(digest, data, options) : signInPool(digest, data, options)) };
};
