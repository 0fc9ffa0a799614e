import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { z } from 'zod';
import { collectionContract } from '../../test/conformance/collection.ts';
import { type Bench, openBench, principalWith } from '../../test/support/context.ts';
import { type CollectionSpec, defineCollection, type Verb, writeDocument } from './collection.ts';
import { referenceTable } from './configuration.ts';
import { collectionErrors, defineErrors } from './errors.ts';
import { names } from './schema.ts';

const errors = collectionErrors('TEST-ITEM', 'Item', { referenced: 403 });
const schema = z.object({
  name: names.plain,
  parent: z.string().optional(),
  secret: z.string().optional(),
  later: z.array(z.string()).optional(),
});
type Item = z.infer<typeof schema>;

const tag = 'test.item';
const references = ({ parent }: Item) => (parent === undefined ? [] : [{ collection: tag, key: parent }]);
const spec: CollectionSpec<Item, Item> = {
  tag,
  id: tag,
  path: '/test/items',
  schema,
  errors,
  section: ['configuration:test', 'configuration:other'],
  references,
};
const items = defineCollection(spec);

collectionContract(items, { valid: { name: 'one' }, invalid: [{}, [], 'x', { name: 5 }, { name: 'one', parent: 'nowhere' }] });

describe('a collection', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());
  beforeEach(() => bench.clear());
  const owner = principalWith(['configuration:*']);
  const call = (
    verb: Verb | string,
    input: { params?: Record<string, string>; body?: unknown; query?: Record<string, string> },
    collection = items,
  ) => {
    const end = verb === 'create' ? 'add' : verb;
    return bench.perform(collection.operations.find(({ id }) => id === `${tag}.${end}`)!, input, owner);
  };
  const create = (body: Item, collection = items) => call('create', { body }, collection);
  const codeOf = (reply: { status: number; body?: unknown }) => [reply.status, (reply.body as { error: string }).error];

  it('deletes nothing that something refers to, and says who', async () => {
    await create({ name: 'root' });
    await create({ name: 'leaf', parent: 'root' });
    const reply = await call('delete', { params: { name: 'root' } });
    assert.deepEqual(codeOf(reply), [403, 'TEST-ITEM-005']);
    assert.match((reply.body as { detail: string }).detail, /test\.item\/leaf/);
    await call('update', { body: { name: 'leaf' } });
    assert.equal((await call('delete', { params: { name: 'root' } })).status, 204);
  });

  it('refuses a deletion with 002 where the family has no code for it', async () => {
    const plain = defineCollection({ ...spec, errors: collectionErrors('TEST-PLAIN', 'Item') });
    await create({ name: 'root' });
    await create({ name: 'leaf', parent: 'root' });
    assert.deepEqual(codeOf(await call('delete', { params: { name: 'root' } }, plain)), [400, 'TEST-PLAIN-002']);
  });

  it('may name itself and still be deleted', async () => {
    await create({ name: 'one' });
    assert.equal((await call('update', { body: { name: 'one', parent: 'one' } })).status, 200);
    assert.equal((await call('delete', { params: { name: 'one' } })).status, 204);
  });

  it('stays whole when something is referred to and deleted at once', async () => {
    for (let round = 0; round < 10; round++) {
      await bench.clear();
      await create({ name: 'root' });
      const [removed, made] = await Promise.all([call('delete', { params: { name: 'root' } }), create({ name: 'leaf', parent: 'root' })]);
      const outcome = [removed.status, made.status].join();
      assert.ok(['204,400', '403,201'].includes(outcome), outcome);
    }
  });

  it('keeps every update that is answered, one after the other', async () => {
    await create({ name: 'one' });
    const replies = await Promise.all(Array.from({ length: 4 }, (_, i) => call('update', { body: { name: 'one', secret: `${i}` } })));
    const { configuration } = await bench.as();
    const stored = await configuration.get<Item>(tag, 'one');
    assert.equal(stored?.revision, 1 + replies.filter(({ status }) => status === 200).length);
  });

  it('does not let those stand in the way of a deletion whom its cascade releases', async () => {
    const cascading = defineCollection<Item>({
      ...spec,
      async cascade({ name }, { configuration, newId }) {
        const children = (await configuration.list<Item>(tag)).filter(({ body }) => body.parent === name && body.secret === 'weak');
        return children.flatMap((child) => {
          const { parent, ...body } = child.body;
          return writeDocument<Item>({ tag, references }, { key: body.name, body, newId }, child).changes;
        });
      },
    });
    await create({ name: 'root' });
    await create({ name: 'weak', parent: 'root', secret: 'weak' });
    await create({ name: 'strong', parent: 'root' });
    const reply = await call('delete', { params: { name: 'root' } }, cascading);
    assert.deepEqual(codeOf(reply), [403, 'TEST-ITEM-005']);
    const { detail } = reply.body as { detail: string };
    assert.deepEqual([detail.includes('test.item/strong'), detail.includes('test.item/weak')], [true, false]);
  });

  it('refuses by name what is not built', async () => {
    const partial = defineCollection({ ...spec, notYet: ['later'] });
    const reply = await create({ name: 'one', later: ['x'] }, partial);
    assert.deepEqual(codeOf(reply), [400, 'TEST-ITEM-002']);
    assert.match((reply.body as { detail: string }).detail, /'later'/);
    assert.equal((await create({ name: 'one', later: [] }, partial)).status, 201);
  });

  it('hides, filters, leaves out and adds as it is told', async () => {
    const more = defineErrors('TEST-MORE', { other: ['009', 400, 'Other'] });
    const told = defineCollection({
      ...spec,
      present: ({ secret, ...shown }: Item) => shown,
      filter:
        ({ prefix = '' }: Readonly<Record<string, string | readonly string[]>>) =>
        (item: Item) =>
          item.name.startsWith(String(prefix)),
      except: ['update'] as const,
      moreErrors: { create: [more.other] },
      extras: [items.operations[0]!],
    });
    assert.deepEqual(
      told.operations.map(({ id }) => id),
      ['list', 'get', 'add', 'delete', 'list'].map((end) => `${tag}.${end}`),
    );
    assert.ok(told.operations[2]!.errors.includes(more.other));
    const { body } = await create({ name: 'ab', secret: 's' }, told);
    assert.deepEqual(Object.keys(body as object), ['_id', 'name']);
    await create({ name: 'b' });
    const names = async (query: Record<string, string>) =>
      ((await call('list', { query }, told)).body as Item[] | undefined)?.map(({ name }) => name);
    assert.deepEqual([await names({}), await names({ prefix: 'a' }), await names({ prefix: 'c' })], [['ab', 'b'], ['ab'], undefined]);
  });

  it('counts revisions, keeps ids, and writes only the references that changed', () => {
    const before = { id: '0'.repeat(24), revision: 3, body: { name: 'one', parent: 'a' } };
    const put = (body: Item) => writeDocument<Item>({ tag, references }, { key: 'one', body, newId: () => 'new' }, before);
    assert.deepEqual(put({ name: 'one', parent: 'a' }).changes.length, 1);
    const { stored, changes } = put({ name: 'one', parent: 'b' });
    assert.deepEqual([stored.id, stored.revision], [before.id, 4]);
    assert.deepEqual(
      changes.slice(1).map(({ op, table }) => [op, table.name]),
      [
        ['insert', referenceTable.name],
        ['remove', referenceTable.name],
      ],
    );
  });
});
