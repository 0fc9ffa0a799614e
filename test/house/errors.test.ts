/** Codes, words and statuses are facts of the wire: test/contract/errors.tsv. Our own codes and what else differs stand in the lists beside. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeApp } from '../../src/app.ts';
import { errorsOf } from '../../src/http/openapi.ts';
import { definedErrors } from '../../src/kernel/errors.ts';
import { contractErrors, contractIds } from './contract.ts';
import { nothing, readList, unexpected } from './lists.ts';

const { operations } = describeApp();
const known = contractErrors();

it('every code of our own is listed', () => {
  const own = definedErrors.map(({ code }) => code).filter((code) => !known.has(code));
  assert.deepEqual(unexpected(own, readList('own-errors.txt')), nothing);
});

it('every code has the words of the table and one of its statuses', () => {
  const differing = definedErrors.filter(({ code, status, title }) => {
    const row = known.get(code);
    return row && (row.title !== title || row.message !== title || !row.statuses.includes(status));
  });
  assert.deepEqual(
    differing.map(
      ({ code, status, title }) => `${code} ${status} ${title}, the table: ${known.get(code)!.statuses} ${known.get(code)!.title}`,
    ),
    [],
  );
});

it('every code is defined once', () => {
  const codes = definedErrors.map(({ code }) => code);
  assert.deepEqual(
    codes.filter((code, i) => codes.indexOf(code) !== i),
    [],
  );
});

/** The frame adds these to every operation; which of them one can answer follows from its class. */
const isCommon = (code: string): boolean => /^(SEC-AUTH-00\d|SEC-PERM-001|LIC-00[124])$/.test(code);

it('an operation answers the codes that the table gives it', () => {
  const inContract = new Set([...contractIds().values()].flat());
  const beyond = operations
    .filter(({ id }) => inContract.has(id))
    .flatMap((operation) =>
      errorsOf(operation)
        .filter(({ code }) => known.has(code) && !isCommon(code))
        .map(({ code, status }) => ({ id: operation.id, code, status })),
    )
    .filter(({ id, code, status }) => !known.get(code)!.operations.includes(id) || !known.get(code)!.statuses.includes(status));
  assert.deepEqual(
    unexpected(
      beyond.map(({ id, code, status }) => `${id} ${code} ${status}`),
      readList('error-exceptions.txt'),
    ),
    nothing,
  );
});
