import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { QueryError } from './error.ts';
import { sample } from './fixtures/vocabulary.ts';
import { parse } from './parse.ts';
import type { Tree } from './tree.ts';

const lines = readFileSync(new URL('fixtures/queries.txt', import.meta.url), 'utf8').split('\n');
const fixtures = lines.flatMap((line, index) => (line.startsWith('  → ') ? [[lines[index - 1]!, line.slice(4)] as const] : []));

describe('parse', () => {
  for (const [query, outcome] of fixtures) {
    it(query, () => {
      if (outcome.startsWith('at ')) assert.throws(() => parse(query, sample), { name: 'QueryError', message: outcome });
      else assert.deepEqual(parse(query, sample), JSON.parse(outcome));
    });
  }

  it('takes an absent or blank query for no filter', () => {
    for (const query of [undefined, '', ' \n\t']) assert.equal(parse(query, sample), undefined);
  });

  it('leaves white space and line breaks free', () => {
    assert.deepEqual(parse('dn="a"and(team\nnot\texists)', sample), parse('dn = "a" and team not exists', sample));
  });

  it('refuses what a database cannot store, at its place', () => {
    assert.throws(() => parse('dn equals "a\0"', sample), { position: 12 });
    assert.throws(() => parse('dn equals "ab\ud800"', sample), { position: 13 });
    assert.deepEqual(parse('dn equals "\u{1F600}"', sample), {
      field: 'dn',
      not: false,
      kind: 'text',
      operator: 'equals',
      values: ['\u{1F600}'],
    });
  });
});

describe('limits', () => {
  const nested = (depth: number) => `${'('.repeat(depth)}id exists${')'.repeat(depth)}`;
  const joined = (count: number) => Array.from({ length: count }, () => 'id exists').join(' or ');
  const listed = (count: number) => `port in [${Array.from({ length: count }, (_, index) => index).join()}]`;

  it('counts parentheses, as deep as it is told', () => {
    assert.throws(() => parse(nested(6), sample), { position: 5 });
    assert.equal(parse(nested(32), sample, { depthMax: 32 })?.kind, 'exists');
    assert.throws(() => parse(nested(30_000), sample, { depthMax: 32 }), { position: 32 });
  });

  it('counts conditions and the values of lists', () => {
    assert.equal((parse(joined(1_000), sample) as Tree & { terms: readonly Tree[] }).terms.length, 1_000);
    assert.throws(() => parse(joined(1_001), sample), /1000 terms/);
    assert.equal(parse(listed(1_000), sample)?.kind, 'number');
    assert.throws(() => parse(listed(1_001), sample), /1000 terms/);
  });

  it('bounds the length', () => {
    assert.throws(() => parse(' '.repeat(65_537), sample), { position: 65_536 });
    assert.throws(() => parse(`dn equals "${'\\"'.repeat(32_000)}`, sample), /to close the text/);
  });
});

describe('any text', () => {
  const words = [
    'dn',
    'id',
    'port',
    'valid.until',
    'grade',
    'status',
    'label.x',
    'trigger.results',
    'not',
    'no',
    'is',
    'has',
    'valid',
    'exists',
  ];
  const operators = [
    'equals',
    '=',
    'contains',
    'matches',
    'in',
    'within',
    'before',
    '<',
    'lower',
    'than',
    'strictly',
    '<=',
    'and',
    '||',
    'or',
    '&',
  ];
  const others = ['(', ')', '[', ']', ',', '"a"', '"', '"(a', '\\', '-3', '30', 'd', 'now', '"2026"', 'A', '!', '\0', 'é'];
  const soup = fc.array(fc.constantFrom(...words, ...operators, ...others), { maxLength: 12 }).map((parts) => parts.join(' '));

  it('is read or refused with a place inside it', () => {
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ unit: 'binary' })), (query) => {
        try {
          parse(query, sample);
        } catch (error) {
          assert.ok(error instanceof QueryError, String(error));
          assert.ok(error.position >= 0 && error.position <= query.length);
        }
      }),
      { numRuns: 20_000 },
    );
  });
});
