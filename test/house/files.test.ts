/** Files are named after what they hold, say at their top what that is, and hold one thing. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nothing, readList, unexpected } from './lists.ts';
import { sourcesIn } from './sources.ts';

const source = sourcesIn('src');
const all = [...source, ...sourcesIn('test')];

it('no file is named after nothing', () => {
  const nameless = /\/(utils?|helpers?|common|types?|base|manager|misc|shared)\.|[.-](utils?|helpers?|common|manager)\./;
  assert.deepEqual(
    all.map(({ path }) => path).filter((path) => nameless.test(path)),
    [],
  );
});

it('names are in kebab-case, with a second name from the closed list', () => {
  const form = /^[a-z0-9]+(-[a-z0-9]+)*(\.(store|query|port|jobs|bench))?(\.test)?\.ts$/;
  assert.deepEqual(
    all.map(({ path }) => path).filter((path) => !form.test(path.split('/').at(-1)!)),
    [],
  );
});

it('every file but a test begins with a comment that says what it is', () => {
  const commented = /^(#!.*\n)?\/\*\*(\n \*)? \S/;
  assert.deepEqual(
    all.filter(({ path, text }) => !path.endsWith('.test.ts') && !commented.test(text)).map(({ path }) => path),
    [],
  );
});

it('no file grows past 300 lines without a reason', () => {
  const long = all.filter(({ text }) => text.split('\n').length > 301).map(({ path }) => path);
  assert.deepEqual(unexpected(long, readList('long-files.txt')), nothing);
});
