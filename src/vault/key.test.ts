import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { vaultKey } from './key.ts';

const root = await mkdtemp(join(tmpdir(), 'vault-key-'));
after(() => rm(root, { recursive: true }));

let directories = 0;
const fresh = (): string => join(root, String(directories++), '.perennial');
const ask = (directory: string, more: { setting?: Uint8Array; embedded?: boolean } = {}): Promise<Uint8Array> =>
  vaultKey({ setting: more.setting, directory, embedded: more.embedded ?? true, random: randomBytes });

test('the setting wins, and no file is made', async () => {
  const setting = randomBytes(32);
  const directory = fresh();
  for (const embedded of [true, false]) assert.equal(await ask(directory, { setting, embedded }), setting);
  await assert.rejects(stat(directory), { code: 'ENOENT' });
});

test('with the embedded database a key is made once, for its owner alone', async () => {
  const directory = fresh();
  const key = await ask(directory);
  assert.equal(key.length, 32);
  assert.deepEqual(await ask(directory), key);
  assert.deepEqual(await readdir(directory), ['vault.key']);
  const path = join(directory, 'vault.key');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal(await readFile(path, 'utf8'), `${Buffer.from(key).toString('hex')}\n`);
});

test('processes that start together agree on one key', async () => {
  const directory = fresh();
  const keys = await Promise.all(Array.from({ length: 20 }, () => ask(directory)));
  assert.equal(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size, 1);
  assert.deepEqual(await readdir(directory), ['vault.key']);
});

test('with another database it must be given', async () => {
  const directory = fresh();
  await assert.rejects(ask(directory, { embedded: false }), { name: 'VaultError', message: /must be given.*PERENNIAL_VAULT_KEY/ });
  await assert.rejects(stat(directory), { code: 'ENOENT' });
});

test('a file that others may read, or that holds no key, is refused and kept', async () => {
  const directory = fresh();
  const key = await ask(directory);
  const path = join(directory, 'vault.key');
  for (const mode of [0o644, 0o640, 0o604, 0o602]) {
    await chmod(path, mode);
    await assert.rejects(ask(directory), { name: 'VaultError', message: /chmod 600/ });
  }
  await chmod(path, 0o600);
  const hex = Buffer.from(key).toString('hex');
  for (const text of ['', '\n', hex.slice(1), `${hex}0`, `${hex} ${hex}`, hex.replace(/./, 'x'), 'y'.repeat(10_000)]) {
    await writeFile(path, text);
    await assert.rejects(
      ask(directory),
      (error: Error) => /does not hold a vault key/.test(error.message) && !error.message.includes(hex.slice(1, 20)),
    );
    assert.equal(await readFile(path, 'utf8'), text);
  }
  await writeFile(path, hex);
  assert.deepEqual(await ask(directory), key);
});

test('a directory in its place, or a file where the directory should be, is one clear error', async () => {
  const directory = fresh();
  await ask(join(directory, 'vault.key'));
  await assert.rejects(ask(directory), { name: 'VaultError', message: /is no file|EISDIR/ });
  await writeFile(join(directory, 'data'), '');
  await assert.rejects(ask(join(directory, 'data')), { name: 'VaultError', message: /ENOTDIR/ });
});
