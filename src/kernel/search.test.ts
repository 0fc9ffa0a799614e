import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Dictionary, fieldSearchQuery, findPlace, type SortElement, searchQuery, sortColumns, vocabularyOf } from './search.ts';

const dictionary: Dictionary = {
  fields: {
    dn: { kind: 'string', column: 'dn', sortName: 'dn' },
    'valid.until': { kind: 'date', column: 'not_after', sortName: 'notAfter' },
    grade: { kind: 'grade', column: 'grade_letters', multi: true },
  },
  families: {
    label: { kind: 'string', column: 'labels', keys: /^[0-9A-Za-z._-]+$/ },
    grade: { kind: 'grade', column: 'grades', keys: ['strict'] },
  },
  specials: { certificate: { verb: 'is', values: { archived: { column: 'archived', equals: true } } } },
  sorts: { escrowed: 'escrowed' },
};

it('finds the place of a field and of a member of a family', () => {
  assert.equal(findPlace(dictionary, 'valid.until')?.column, 'not_after');
  assert.deepEqual(findPlace(dictionary, 'label.site.x'), { kind: 'string', column: 'labels', member: 'site.x' });
  assert.deepEqual(findPlace(dictionary, 'grade.strict'), { kind: 'grade', column: 'grades', member: 'strict' });
  assert.equal(findPlace(dictionary, 'grade')?.multi, true);
});

it('knows no other name', () => {
  for (const name of ['', '.', 'label', 'label.', 'label.a b', 'grade.other', '.dn', 'dn.x', 'toString', 'constructor.x', '__proto__']) {
    assert.equal(findPlace(dictionary, name), undefined, name);
    assert.equal(vocabularyOf(dictionary).specialOf(name), undefined, name);
  }
});

it('tells the grammar its words', () => {
  const vocabulary = vocabularyOf(dictionary);
  assert.equal(vocabulary.kindOf('valid.until'), 'date');
  assert.deepEqual(vocabulary.specialOf('certificate'), { verb: 'is', values: ['archived'] });
});

it('fills in what a body leaves out', () => {
  assert.deepEqual(searchQuery.parse({}), { pageIndex: 1, pageSize: 50, withCount: false });
  assert.equal(searchQuery.parse({ pageIndex: -3 }).pageIndex, 1);
  assert.equal(searchQuery.parse({ pageSize: 2 ** 31 }).pageSize, 10_000);
  assert.deepEqual(fieldSearchQuery.parse({ fields: [] }).fields, []);
  for (const body of [{ pageIndex: 1.5 }, { pageSize: 0 }, { query: 1 }, { sortedBy: [{ element: 'dn', order: 'asc' }] }]) {
    assert.equal(searchQuery.safeParse(body).success, false, JSON.stringify(body));
  }
});

it('sorts by API names, each once', () => {
  const by = (...elements: readonly string[]): SortElement[] => elements.map((element) => ({ element, order: 'Desc' }));
  assert.deepEqual(sortColumns(dictionary), []);
  assert.deepEqual(sortColumns(dictionary, [{ element: 'notAfter', order: 'KeyAsc' }, ...by('escrowed')]), [
    { column: 'not_after', descending: false },
    { column: 'escrowed', descending: true },
  ]);
  for (const element of ['valid.until', 'grade', 'undefined', 'toString']) {
    assert.throws(() => sortColumns(dictionary, by(element)), { name: 'SortError', element });
  }
  assert.throws(() => sortColumns(dictionary, by('dn', 'dn')), /'dn' stands twice/);
});
