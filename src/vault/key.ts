/**
 * Where the vault key comes from: the setting, or a file beside the embedded database that is made at the first start.
 * Not the place to look whether it is the right key: what was sealed with another one does not open.
 */
import { link, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { keyBytes, VaultError } from './seal.ts';

export interface VaultKeyOptions {
  /** The setting `vaultKey`; wins where it is given. */
  readonly setting: Uint8Array | undefined;
  /** The setting `dataDirectory`; made where it is missing. */
  readonly directory: string;
  /** A database of others may be shared by several nodes and outlives this directory, so a key made here would be wrong or lost. */
  readonly embedded: boolean;
  readonly random: (bytes: number) => Uint8Array;
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

const othersMask = 0o077;

/** Undefined when there is no such file. */
const read = async (path: string): Promise<Uint8Array | undefined> => {
  const file = await open(path, 'r').catch((error) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new VaultError(`${path} cannot be read (${codeOf(error)})`);
  });
  if (file === undefined) return undefined;
  try {
    const state = await file.stat();
    if (!state.isFile()) throw new VaultError(`${path} is no file`);
    if ((state.mode & othersMask) !== 0) throw new VaultError(`${path} is open to others than its owner: chmod 600 ${path}`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4 * keyBytes));
    const text = buffer.toString('latin1', 0, bytesRead).trimEnd();
    if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new VaultError(`${path} does not hold a vault key (64 hexadecimal characters)`);
    return Buffer.from(text, 'hex');
  } finally {
    await file.close();
  }
};

const writeDurably = async (path: string, text: string): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
};

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  await directory.sync().finally(() => directory.close());
};

/** Complete or not there at all, and never over another one: a key that somebody else makes at the same time wins. */
const make = async (directory: string, path: string, random: VaultKeyOptions['random']): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${Buffer.from(random(8)).toString('hex')}`;
  try {
    await writeDurably(draft, `${Buffer.from(random(keyBytes)).toString('hex')}\n`);
    await link(draft, path);
    await syncDirectory(directory);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw new VaultError(`${path} cannot be made (${codeOf(error)})`);
  } finally {
    await rm(draft, { force: true });
  }
};

/** The 32 bytes of the vault key. Throws VaultError with one sentence that says what to do. */
export const vaultKey = async ({ setting, directory, embedded, random }: VaultKeyOptions): Promise<Uint8Array> => {
  if (setting !== undefined) return setting;
  if (!embedded)
    throw new VaultError(
      'With a database of your own the vault key must be given, the same on every node: set PERENNIAL_VAULT_KEY or PERENNIAL_VAULT_KEY_FILE',
    );
  const path = join(directory, 'vault.key');
  const found = await read(path);
  if (found !== undefined) return found;
  await make(directory, path, random);
  const made = await read(path);
  if (made === undefined) throw new VaultError(`${path} was removed while it was made`);
  return made;
};
