import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compilePermissions, includes, isPermission, needs, profilesNamedBy, sections } from './permission.ts';

describe('the grammar of permissions', () => {
  for (const value of ['configuration', 'configuration:*', 'a:b:c:d:e', 'lifecycle:webra:web,web2:*', 'a:b c:d.e-f_g', '*']) {
    it(`has ${value}`, () => assert.equal(isPermission(value), true));
  }
  for (const value of ['', ':', 'a:', ':a', 'a::b', 'a:b:c:d:e:f', 'a,', ',a', 'a:b,,c', 'a;b', 'é', 'a\n', 'a:"b"', 'a'.repeat(501)]) {
    it(`lacks ${JSON.stringify(value.slice(0, 20))}`, () => assert.equal(isPermission(value), false));
  }
  it('is checked in no time', () => {
    const began = performance.now();
    isPermission(`${'a,'.repeat(249)};`);
    assert.ok(performance.now() - began < 50);
  });
});

describe('a permission', () => {
  for (const [held, required, granted] of [
    ['configuration', 'configuration:ca:manage', true],
    ['configuration:*', 'configuration:security:access-management:role:manage', true],
    ['configuration:ca', 'configuration:ca:audit', true],
    ['configuration:ca:manage', 'configuration:ca:audit', true],
    ['configuration:ca:audit', 'configuration:ca:manage', false],
    ['configuration:ca:audit,manage', 'configuration:ca:manage', true],
    ['configuration:ca,pki:*', 'configuration:pki:audit', true],
    ['configuration:ca,pki:*', 'configuration:label:audit', false],
    ['CONFIGURATION:Ca:*', 'configuration:ca:audit', true],
    ['configuration:*:audit', 'configuration:ca:audit', true],
    ['configuration:*:audit', 'configuration:security:access-management:role:audit', false],
    ['configuration:system:label:manage', 'configuration:system:event:manage', false],
    ['configuration:ca:manage:more', 'configuration:ca:manage', false],
    ['configuration:ca:manage:*', 'configuration:ca:manage', true],
    ['lifecycle:*:*:enroll', 'lifecycle:webra:web:enroll', true],
    ['lifecycle:*:*:enroll', 'lifecycle:webra:web:enroll_api', false],
    ['lifecycle:webra:manage:search', 'lifecycle:webra:audit:search', false],
    ['*', 'lifecycle:webra:web:enroll', true],
    ['config', 'configuration:ca:audit', false],
    ['', 'configuration:ca:audit', false],
    ['configuration::', 'configuration:ca:audit', false],
  ] as const) {
    it(`${JSON.stringify(held)} ${granted ? 'covers' : 'does not cover'} ${required}`, () => {
      const grant = compilePermissions([{ value: held }]);
      assert.equal(grant(required)?.value, granted ? held : undefined);
      assert.equal(grant(required)?.value, granted ? held : undefined, 'the second time too');
    });
  }

  it('without a filter is found before one with a filter', () => {
    const grant = compilePermissions([{ value: 'lifecycle:*', filter: 'team equals "a"' }, { value: 'lifecycle:webra' }]);
    assert.equal(grant('lifecycle:webra:web:enroll')?.value, 'lifecycle:webra');
    assert.equal(grant('lifecycle:acme:web:enroll')?.filter, 'team equals "a"');
  });

  it('never grants less when another is added', () => {
    const part = fc.constantFrom('a', 'b', '*', 'a,b', 'audit', 'manage');
    const value = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(':'));
    const required = fc.array(fc.constantFrom('a', 'b', 'audit', 'manage'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(':'));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), value, required, (held, more, asked) => {
        const few = compilePermissions(held.map((one) => ({ value: one })));
        const many = compilePermissions([...held, more].map((one) => ({ value: one })));
        return few(asked) === undefined || many(asked) !== undefined;
      }),
    );
  });
});

describe('what is held', () => {
  for (const [held, value, within] of [
    [['configuration:*'], 'configuration', true],
    [['configuration:ca'], 'configuration:ca:*', true],
    [['configuration:ca:manage'], 'configuration:ca:audit,manage', true],
    [['configuration:ca:manage'], 'configuration:ca', false],
    [['configuration:ca:audit'], 'configuration:ca:manage', false],
    [['configuration:ca,pki:*'], 'Configuration:PKI:audit', true],
    [['configuration:ca:*', 'configuration:pki:*'], 'configuration:ca,pki:audit', false],
    [['lifecycle:webra:manage'], 'lifecycle:webra:audit', false],
    [['configuration,lifecycle:webra:manage'], 'configuration,lifecycle:webra:audit', false],
    [['configuration:*', 'lifecycle:*', 'discovery:*'], '*', true],
    [['configuration:*', 'lifecycle:*'], '*', false],
    [['configuration:*', 'lifecycle:webra'], 'lifecycle,configuration:webra', true],
    [['*'], '*', true],
    [[], 'configuration:ca:audit', false],
    [[], 'whatever:there:may:be', true],
    [[], 'whatever,lifecycle', false],
  ] as const) {
    it(`${held.join(' ') || 'nothing'} ${within ? 'includes' : 'does not include'} ${value}`, () => {
      assert.equal(
        includes(
          held.map((one) => ({ value: one })),
          value,
        ),
        within,
      );
    });
  }

  it('with a filter includes nothing', () => assert.equal(includes([{ value: 'lifecycle', filter: 'x' }], 'lifecycle:webra'), false));

  it('covers all that what it includes covers', () => {
    const part = fc.constantFrom('a', 'b', '*', 'a,b', 'audit', 'manage', 'audit,manage');
    const group = fc.constantFrom('configuration', 'lifecycle', '*', 'configuration,lifecycle', 'other');
    const value = fc.tuple(group, fc.array(part, { maxLength: 3 })).map(([first, others]) => [first, ...others].join(':'));
    const asked = fc.oneof(
      fc.tuple(fc.constant('configuration'), fc.constantFrom('a', 'b', 'a:b'), fc.constantFrom('audit', 'manage')),
      fc.tuple(fc.constant('lifecycle'), fc.constantFrom('a', 'b'), fc.constantFrom('a', 'audit', 'manage'), fc.constantFrom('a', 'b')),
    );
    fc.assert(
      fc.property(fc.array(value, { maxLength: 3 }), value, asked, (held, given, parts) => {
        const permissions = held.map((one) => ({ value: one }));
        const required = parts.join(':');
        fc.pre(includes(permissions, given) && compilePermissions([{ value: given }])(required) !== undefined);
        return compilePermissions(permissions)(required) !== undefined;
      }),
      { numRuns: 300 },
    );
  });
});

describe('what permissions are needed and named', () => {
  it('needs any of the alternatives', () => {
    assert.deepEqual(needs(sections.queue, 'audit'), ['configuration:pki:audit', 'configuration:system:queue:audit']);
  });

  it('are sections that the grammar has', () => {
    for (const paths of Object.values(sections)) for (const value of needs(paths, 'manage')) assert.ok(isPermission(value));
  });

  for (const [value, named] of [
    ['lifecycle:webra:web:enroll', [{ modules: ['webra'], profile: 'web' }]],
    [
      'Lifecycle:WebRA,acme:Web,b',
      [
        { modules: ['webra', 'acme'], profile: 'web' },
        { modules: ['webra', 'acme'], profile: 'b' },
      ],
    ],
    ['lifecycle:*:web', [{ modules: ['*'], profile: 'web' }]],
    ['lifecycle:webra', []],
    ['lifecycle:webra:web,*:enroll', []],
    ['configuration:webra:web', []],
  ] as const) {
    it(`${value} names ${named.length} profiles`, () => assert.deepEqual(profilesNamedBy(value), named));
  }
});
