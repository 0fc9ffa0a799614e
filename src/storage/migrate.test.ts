import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createDatabase, type TestDatabase } from '../../test/support/database.ts';
import { migrate } from './migrate.ts';

let database: TestDatabase;
const folders: string[] = [];

before(async () => {
  database = await createDatabase();
});
after(async () => {
  await database.drop();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'perennial-migrations-'));
  folders.push(folder);
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(folder, name), sql);
  return folder;
}

async function withClient<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(database.url);
  await client.connect();
  return work(client).finally(() => client.end());
}

const start = { '0001-start.sql': 'create table t (n int)' };
const second = { ...start, '0002-column.sql': 'select pg_sleep(0.1); alter table t add column m int' };

test('applies what is missing, in order, each once', async () => {
  await withClient(async (client) => {
    const schema = 'in order';
    assert.deepEqual(await migrate(client, { schema, folder: folderOf(start) }), ['0001-start']);
    assert.deepEqual(await migrate(client, { schema, folder: folderOf(second) }), ['0002-column']);
    assert.deepEqual(await migrate(client, { schema, folder: folderOf(second) }), []);
    const { rows } = await client.query('select number, name from "in order".migration order by number');
    assert.deepEqual(rows, [
      { number: 1, name: '0001-start' },
      { number: 2, name: '0002-column' },
    ]);
  });
});

test('of programs that start at once each migration is applied by one', async () => {
  const folder = folderOf(second);
  const applied = await Promise.all([1, 2, 3, 4].map(() => withClient((client) => migrate(client, { schema: 'at_once', folder }))));
  assert.deepEqual(applied.flat().sort(), ['0001-start', '0002-column']);
});

test('a database that is newer than the program is refused', async () => {
  await withClient(async (client) => {
    await migrate(client, { schema: 'newer', folder: folderOf(second) });
    await assert.rejects(
      migrate(client, { schema: 'newer', folder: folderOf(start) }),
      /newer than this program: it has migration 2 and the program knows 1/,
    );
  });
});

test('a migration that fails leaves nothing, and its file and line are told', async () => {
  await withClient(async (client) => {
    const folder = folderOf({ '0001-start.sql': 'create table t (n int);\n\nalter table nowhere add m int' });
    const bad = folderOf({ '0001-start.sql': 'create table t (n int);\nselect nothing' });
    await assert.rejects(
      migrate(client, { schema: 'failing', folder: bad }),
      /^Error: Migration 0001-start, line 2: column "nothing" does not exist$/,
    );
    await assert.rejects(
      migrate(client, { schema: 'failing', folder }),
      /^Error: Migration 0001-start: relation "nowhere" does not exist$/,
    );
    assert.deepEqual(await migrate(client, { schema: 'failing', folder: folderOf(start) }), ['0001-start']);
  });
});

test('files are numbered without gaps', async () => {
  await withClient(async (client) => {
    for (const files of [{ '0002-x.sql': '' }, { ...start, '0001-twice.sql': '' }, { ...start, 'notes.txt': '' }]) {
      await assert.rejects(migrate(client, { folder: folderOf(files) }), /is not migration \d: the files are named/);
    }
  });
});
