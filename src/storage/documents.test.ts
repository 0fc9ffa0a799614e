import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createDatabase } from '../../test/support/database.ts';
import type { Reader, Statement } from '../kernel/context.ts';
import { type Database, openDatabase } from './database.ts';
import { createDocuments, type Documents } from './documents.ts';

describe('documents', () => {
  let database: Database;
  let other: Database;
  let close: () => Promise<void>;
  let asked: string[];
  let documents: Documents;
  before(async () => {
    const { url, drop } = await createDatabase();
    [database, other] = [openDatabase({ url, poolSize: 4, lanes: 1 }), openDatabase({ url, poolSize: 1, lanes: 1 })];
    close = async () => {
      await Promise.all([database.close(), other.close()]);
      await drop();
    };
  });
  after(() => close());
  beforeEach(async () => {
    await other.writers.query('delete from document');
    await put('a', 1);
    asked = [];
    documents = createDocuments(counting(database));
  });

  const counting = (reader: Reader): Reader => ({
    rows: <R>(statement: Statement) => {
      asked.push(String(statement.name));
      return reader.rows<R>(statement);
    },
  });
  /** By another process. */
  const put = (key: string, n: number) =>
    other.writers.query(
      `insert into document values ('things', $1, $2, 1, $3) on conflict (collection, key) do update set body = excluded.body`,
      [key, `id ${key}`, { n }],
    );
  const read = async (key = 'a') => (await (await documents.current()).get<{ n: number }>('things', key))?.body.n;
  const timesAsked = (name: string) => asked.filter((one) => one === name).length;

  it('are read once as long as nobody writes', async () => {
    for (let i = 0; i < 5; i++) assert.equal(await read(), 1);
    const { list } = await documents.current();
    assert.deepEqual(await list('things'), await list('things'));
    assert.deepEqual(
      ['document-head', 'document-get', 'document-list'].map((name) => timesAsked(name)),
      [6, 1, 1],
    );
  });

  it('written, removed or made by another connection are seen by the next call', async () => {
    for (let n = 2; n < 12; n++) {
      await put('a', n);
      assert.equal(await read(), n);
    }
    assert.equal(await read('b'), undefined);
    await put('b', 1);
    assert.equal(await read('b'), 1);
    await other.writers.query(`delete from document where key = 'a'`);
    assert.equal(await read('a'), undefined);
    const { list } = await documents.current();
    assert.deepEqual(
      (await list('things')).map(({ id }) => id),
      ['id b'],
    );
  });

  it('are never older than the call, however many calls come at once', async () => {
    let written = 1;
    const reading = async () => {
      for (let i = 0; i < 40; i++) {
        const before = written;
        const seen = await read();
        assert.ok(seen !== undefined && seen >= before, `${seen} was read after ${before} was written`);
      }
    };
    const writing = async () => {
      for (let n = 2; n < 40; n++) {
        await put('a', n);
        written = n;
      }
    };
    await Promise.all([writing(), ...Array.from({ length: 8 }, reading)]);
  });

  it('share the check of those who come while one is under way', async () => {
    await Promise.all(Array.from({ length: 100 }, () => read()));
    assert.ok(timesAsked('document-head') <= 3, String(timesAsked('document-head')));
  });

  it('that are not there are not remembered, nor is what could not be made', async () => {
    const { get, memo } = await documents.current();
    for (let i = 0; i < 2; i++) assert.equal(await get('things', 'nowhere'), undefined);
    assert.equal(timesAsked('document-get'), 2);
    let made = 0;
    const fail = async () => {
      made += 1;
      throw new Error('not now');
    };
    for (let i = 0; i < 2; i++) await assert.rejects(memo('x', fail), /not now/);
    assert.equal(await memo('x', async () => ++made), 3);
    assert.equal(await memo('x', async () => ++made), 3);
  });

  it('and what was made of them go with the first write', async () => {
    let made = 0;
    const make = async () => ++made;
    assert.deepEqual([await (await documents.current()).memo('x', make), await (await documents.current()).memo('x', make)], [1, 1]);
    await put('b', 1);
    assert.equal(await (await documents.current()).memo('x', make), 2);
  });

  it('are checked anew after a check that failed', async () => {
    let down = true;
    const { current } = createDocuments({
      rows: (statement) => (down ? Promise.reject(new Error('away')) : database.rows(statement)),
    });
    await Promise.all([assert.rejects(current(), /away/), assert.rejects(current(), /away/)]);
    down = false;
    assert.ok(await current());
  });
});
