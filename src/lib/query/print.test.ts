import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { conditions, trees } from './fixtures/trees.ts';
import { sample } from './fixtures/vocabulary.ts';
import { parse } from './parse.ts';
import { print } from './print.ts';

it('prints what is read as the same tree', () => {
  const tree = trees(
    conditions({
      string: ['dn', 'team', 'label.a-b.c'],
      id: ['id'],
      number: ['port'],
      date: ['valid.until'],
      grade: ['grade'],
      special: [
        ['status', 'is', 'valid'],
        ['trigger.results', 'has', 'success'],
      ],
    }),
  );
  fc.assert(
    fc.property(tree, (value) => assert.deepEqual(parse(print(value), sample, { depthMax: 32 }), value)),
    { numRuns: 5_000 },
  );
});

it('nests no deeper than what was read', () => {
  const query = '(((((id exists or dn exists and team exists)))))';
  assert.equal(print(parse(query, sample)!), 'id exists or dn exists and team exists');
});

it('spells every operator in words', () => {
  const query = '(dn="a\\"b"|trigger.results has no success)&valid.until not<-3 days&grade>=B&port in(1,2)';
  const printed =
    '(dn equals "a\\"b" or trigger.results has no success) and valid.until not before -3d and grade greater than B and port in [1, 2]';
  assert.equal(print(parse(query, sample)!), printed);
});
