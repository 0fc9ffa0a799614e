/**
 * Who the embedded PostgreSQL runs as, and how a program is run as that account. PostgreSQL refuses root: a service that is root
 * runs it as another user, or, where that user may not enter the folder, as itself under another number in a user namespace.
 */

import { type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

export interface Account {
  /** Owner of its files. */
  readonly uid: number;
  readonly gid: number;
  readonly inNamespace: boolean;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}

const service = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };

/** The accounts that a new data folder may be made for, best first. */
export function candidates(): readonly Account[] {
  const direct = service.uid === 0 ? unprivilegedUser() : service;
  return [
    { ...direct, inNamespace: false },
    { ...service, inNamespace: true },
  ];
}

/** The account of an existing data folder: its owner decides. */
export function ownerOf(folder: string): Account {
  const { uid, gid } = statSync(folder);
  if (service.uid !== 0 && service.uid !== uid) {
    throw new Error(`The database folder ${folder} belongs to the user with id ${uid}: start the service as that user or as root.`);
  }
  return { uid, gid, inNamespace: uid === 0 };
}

/** The user `postgres` where there is one, else `nobody`. */
function unprivilegedUser(): { readonly uid: number; readonly gid: number } {
  const entries = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const entry = entries.find(([name]) => name === 'postgres') ?? entries.find(([name]) => name === 'nobody');
  return { uid: Number(entry?.[2] ?? 65534), gid: Number(entry?.[3] ?? 65534) };
}

/** `argv` as the account runs it. Nothing of the service's environment is handed on; `path` is where programs are looked for. */
export function commandAs(account: Account, path: string, argv: readonly string[]): Command {
  const inner = unprivilegedUser();
  const prefix = account.inNamespace ? ['unshare', '--user', `--map-user=${inner.uid}`, `--map-group=${inner.gid}`] : [];
  const [file = '', ...args] = [...prefix, ...argv];
  const identity = account.uid === service.uid ? {} : { uid: account.uid, gid: account.gid };
  return { file, args, options: { ...identity, cwd: '/', env: { PATH: path, LC_ALL: 'C' } } };
}

/** Runs a program to its end; a program that cannot be started counts as failed. */
export function run({ file, args, options }: Command, input = ''): Promise<{ readonly ok: boolean; readonly stderr: string }> {
  return new Promise<{ readonly ok: boolean; readonly stderr: string }>((resolve) => {
    let stderr = '';
    const child = spawn(file, args, { ...options, stdio: ['pipe', 'ignore', 'pipe'] });
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    child.once('error', (error) => resolve({ ok: false, stderr: error.message }));
    child.once('close', (code) => resolve({ ok: code === 0, stderr }));
    child.stdin?.on('error', () => {}); // it may end without reading
    child.stdin?.end(input);
  }).catch((error: unknown) => ({ ok: false, stderr: String(error) })); // spawn throws where it may not change the user
}
