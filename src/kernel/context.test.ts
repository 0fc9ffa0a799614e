import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { newId, systemSources } from './context.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

it('randomness comes in the size that was asked for', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5_000), { maxLength: 20 }), (sizes) => sizes.every((size) => systemSources.random(size).length === size)),
  );
});

it('no random byte is given twice, in whatever sizes they are asked for', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1_100 }), { minLength: 20, maxLength: 60 }), (sizes) => {
      const pieces = sizes.map((size) => systemSources.random(size));
      const places = pieces.map(({ buffer, byteOffset, length }) => ({ buffer, from: byteOffset, to: byteOffset + length }));
      for (const [i, a] of places.entries())
        for (const b of places.slice(i + 1)) assert.ok(a.buffer !== b.buffer || a.to <= b.from || b.to <= a.from);
    }),
    { numRuns: 30 },
  );
  const eights = Array.from({ length: 20_000 }, () => hex(systemSources.random(8)));
  assert.equal(new Set(eights).size, eights.length);
});

it('who overwrites a piece overwrites no other', () => {
  const [first, second] = [systemSources.random(16), systemSources.random(16)];
  const before = hex(second);
  first.fill(0);
  assert.equal(hex(second), before);
});

it('ids made later sort later, and hold the time and eight random bytes', () => {
  const at = (now: number) => newId({ now: () => now, random: (bytes) => new Uint8Array(bytes).fill(0xab) });
  assert.equal(at(1_000), `00000001${'ab'.repeat(8)}`);
  fc.assert(
    fc.property(fc.nat(2 ** 31), fc.integer({ min: 1, max: 2 ** 30 }), (seconds, more) => at(seconds * 1000) < at((seconds + more) * 1000)),
  );
  const { now, random } = systemSources;
  assert.equal(new Set(Array.from({ length: 5_000 }, () => newId({ now, random }))).size, 5_000);
});
