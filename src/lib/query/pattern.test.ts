import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { QueryError } from './error.ts';
import { patterns } from './fixtures/trees.ts';
import { portable } from './pattern.ts';

describe('a portable pattern', () => {
  const spelt: readonly (readonly [pattern: string, portable: string])[] = [
    ['', ''],
    ['^10\\.0\\.', '^10\\.0\\.'],
    ['(a|b)+?c{2,3}$', '(?:a|b)+?c{2,3}$'],
    ['\\d\\D', '[0-9][^0-9]'],
    ['[\\w.-]\\s', '[0-9A-Za-z_.-][\\t\\n\\f\\r ]'],
    ['[^-a-f\\]\\\\d]', '[^-a-f\\]\\\\d]'],
    ['a*|()', 'a*|(?:)'],
  ];
  for (const [pattern, expected] of spelt) it(pattern, () => assert.equal(portable(pattern), expected));
});

describe('refused', () => {
  const escapes = [
    '\\b',
    '\\B',
    '\\A',
    '\\z',
    '\\Z',
    '\\m',
    '\\M',
    '\\y',
    '\\1',
    '\\x41',
    '\\u0041',
    '\\0',
    '\\pL',
    '\\p{Lu}',
    '\\Qa\\E',
    '\\',
    '\\a',
    '\\é',
  ];
  const groups = ['(?i)a', '(?=a)', '(?!a)', '(?<=a)', '(?<n>a)', '(?P<n>a)', '(?#a)', '***=a', '(*a)', '(', ')', '(?', '(?:'];
  const classes = [
    '[',
    '[]',
    '[^]',
    '[a',
    '[[:alpha:]]',
    '[[.a.]]',
    '[[:<:]]',
    '[\\D]',
    '[\\b]',
    '[z-a]',
    '[a-\\d]',
    '[\\d-z]',
    '[a-b-c]',
    ']',
  ];
  const repeats = [
    '*',
    '^*',
    '$+',
    '|*',
    '(+)',
    'a**',
    'a+*',
    'a{2}{3}',
    'a{256}',
    'a{0,300}',
    'a{3,2}',
    'a{',
    'a{,2}',
    'a{x}',
    '}',
    'a*+',
    'a???',
  ];
  const large = [
    'a'.repeat(1_001),
    '((a{100}){100}){100}',
    '(a{200}){4}(b{201})',
    '(ab){200}(ab){200}(abc){200}',
    '(((((a{255}){255}){255}){255}){255})',
  ];
  for (const pattern of [...escapes, ...groups, ...classes, ...repeats, ...large]) {
    it(pattern.slice(0, 40), () => assert.throws(() => portable(pattern, 7), { name: 'QueryError', position: 7 }));
  }
});

it('is spelt the same when spelt again', () => {
  fc.assert(fc.property(patterns, (pattern) => assert.equal(portable(portable(pattern)), portable(pattern))));
});

it('is found or refused in any text', () => {
  const soup = fc.array(fc.constantFrom(...'ab\\dwsb()[]{}^$|*+?.,-:<>=!1 2é"'), { maxLength: 14 }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(soup, (pattern) => {
      try {
        portable(pattern);
      } catch (error) {
        assert.ok(error instanceof QueryError, String(error));
      }
    }),
    { numRuns: 20_000 },
  );
});

it('nests as deep as its length allows', () => {
  assert.equal(portable(`${'('.repeat(500)}${')'.repeat(500)}`).length, 2_000);
});
