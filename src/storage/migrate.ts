/**
 * Brings a schema to what this version of the program expects: numbered SQL files, each applied once, in order, in a transaction.
 * A file that has been published is never edited; a change is a new file. Their statements name no schema: it is the first of the path.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

export interface MigrateOptions {
  /** The schema to hold the tables; made when it is not there. */
  readonly schema?: string;
  /** The folder of `NNNN-name.sql`, numbered from 0001 without gaps. */
  readonly folder?: string;
}

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/**
 * Answers the names of the migrations that this call applied. `client` is one session, without an open transaction; any number of
 * programs may call at once. Throws when the database knows migrations that this program does not, and when a file fails, with its line.
 */
export async function migrate(client: pg.ClientBase, options: MigrateOptions = {}): Promise<readonly string[]> {
  const { schema = 'public', folder = join(import.meta.dirname, 'migrations') } = options;
  const migrations = readMigrations(folder);
  const path = `set local search_path to ${pg.escapeIdentifier(schema)}, public`; // extensions live in public
  await prepare(client, schema, path).catch((error: unknown) => {
    // two programs creating the same thing: "if not exists" does not wait for the other
    if (error instanceof pg.DatabaseError && ['23505', '42P06', '42P07'].includes(error.code ?? '')) return prepare(client, schema, path);
    throw error;
  });
  const done = await doneNumbers(client, path);
  refuseNewer(done, migrations.length);
  const applied: string[] = [];
  for (const migration of migrations) {
    if (!done.includes(migration.number) && (await apply(client, path, migration))) applied.push(migration.name);
  }
  return applied;
}

function readMigrations(folder: string): readonly Migration[] {
  return readdirSync(folder)
    .sort()
    .map((file, index) => {
      const [, number, name] = /^(\d{4})-([a-z0-9-]+)\.sql$/.exec(file) ?? [];
      if (name === undefined || Number(number) !== index + 1) {
        throw new Error(
          `${join(folder, file)} is not migration ${index + 1}: the files are named 0001-name.sql, 0002-name.sql and so on, without gaps.`,
        );
      }
      return { number: index + 1, name: `${number}-${name}`, sql: readFileSync(join(folder, file), 'utf8') };
    });
}

async function prepare(client: pg.ClientBase, schema: string, path: string): Promise<void> {
  // asked first, as "create schema if not exists" needs the right to create even when there is nothing to do
  const { rowCount } = await client.query('select 1 from pg_namespace where nspname = $1', [schema]);
  await inTransaction(client, path, async () => {
    if (rowCount === 0) await client.query(`create schema ${pg.escapeIdentifier(schema)}`);
    await client.query(`create table if not exists ${pg.escapeIdentifier(schema)}.migration (
      number integer primary key,
      name text not null,
      at timestamptz not null default now()
    )`);
  });
}

async function doneNumbers(client: pg.ClientBase, path: string): Promise<readonly number[]> {
  return inTransaction(client, path, async () => {
    const { rows } = await client.query<{ number: number }>('select number from migration order by number');
    return rows.map(({ number }) => number);
  });
}

function refuseNewer(done: readonly number[], known: number): void {
  const newest = done.at(-1) ?? 0;
  if (newest > known) {
    throw new Error(
      `The database is newer than this program: it has migration ${newest} and the program knows ${known}; start the newer version, or restore a backup from before the upgrade.`,
    );
  }
}

/** Whether it was applied here: the row comes first, so a second program waits for it and then finds it done. */
function apply(client: pg.ClientBase, path: string, { number, name, sql }: Migration): Promise<boolean> {
  return inTransaction(client, path, async () => {
    const { rowCount } = await client.query('insert into migration (number, name) values ($1, $2) on conflict do nothing', [number, name]);
    if (rowCount === 0) return false;
    await client.query(sql).catch((cause: unknown) => {
      throw new Error(`Migration ${name}${lineOf(cause, sql)}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    });
    return true;
  });
}

function lineOf(error: unknown, sql: string): string {
  const position = error instanceof pg.DatabaseError ? error.position : undefined;
  return position === undefined ? '' : `, line ${sql.slice(0, Number(position) - 1).split('\n').length}`;
}

async function inTransaction<Result>(client: pg.ClientBase, path: string, work: () => Promise<Result>): Promise<Result> {
  await client.query(`begin isolation level read committed; ${path}`);
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {}); // the connection may be what failed
    throw error;
  }
}
