/** Keys, requests and checks by the `openssl` of the machine: the word of somebody else. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface OpensslDesk {
  /** Runs `openssl` in the desk's folder; answers its standard output. */
  run(...words: string[]): string;
  /** Keeps a text in a file of the desk's folder; answers the file's name. */
  file(name: string, text: string): string;
  close(): void;
}

export function openDesk(): OpensslDesk {
  const folder = mkdtempSync(join(tmpdir(), 'perennial-openssl-'));
  return {
    run: (...words) => execFileSync('openssl', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
    file(name, text) {
      writeFileSync(join(folder, name), text);
      return name;
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}

export const keyArguments = {
  'ec-secp256r1': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  'ec-secp384r1': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  'ec-secp521r1': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-521'],
  'rsa-2048': ['-newkey', 'rsa:2048'],
  'rsa-3072': ['-newkey', 'rsa:3072'],
  'rsa-4096': ['-newkey', 'rsa:4096'],
} as const;

/** A certificate request in PEM by a new key. */
export const makeCsr = (
  desk: OpensslDesk,
  subject: string,
  { keyType = 'ec-secp256r1', san = '' }: { keyType?: keyof typeof keyArguments; san?: string } = {},
): string =>
  desk.run(
    'req',
    '-new',
    '-nodes',
    ...keyArguments[keyType],
    '-keyout',
    'leaf.key',
    '-subj',
    subject,
    ...(san ? ['-addext', `subjectAltName=${san}`] : []),
  );
