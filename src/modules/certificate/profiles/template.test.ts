import assert from 'node:assert/strict';
import { describe as group, it } from 'node:test';
import fc from 'fast-check';
import { describe } from './describe.ts';
import type { CertificateTemplate } from './elements.ts';
import { webraSample } from './fixtures/webra.ts';
import { slotsOf, type Template } from './slots.ts';
import { ElementError, type Evaluated, evaluate, type Filling, type Proposed, prefill, read } from './template.ts';

const label = { name: 'site', displayName: [{ lang: 'en', value: 'Site' }], regex: '^[a-z]+$' };
const template: Template = { elements: webraSample.certificateTemplate, labels: new Map([['site', label]]) };
const withParts = (parts: CertificateTemplate): Template => ({ ...template, elements: { ...template.elements, ...parts } });
const anyEdit = { editableByRequester: true, editableByApprover: true };

const csr: Proposed = {
  subject: [
    { type: 'CN', value: 'csr.example' },
    { type: 'O', value: 'Evil' },
    { type: 'L', value: 'Nowhere' },
    { type: 'OU', value: '#0300', isText: false },
  ],
  sans: [
    { type: 'DNSNAME', value: 'csr.example' },
    { type: 'IPADDRESS', value: '192.0.2.1' },
  ],
  extensions: [{ type: 'ms_template', value: 'User' }],
};
const asked = { subject: [{ element: 'cn.1', value: 'www.example' }], sans: [{ type: 'DNSNAME', value: ['www.example'] }] };
const filling: Filling = { submitted: asked, by: 'requester', awaitsApproval: true };

group('what a template is filled with', () => {
  it('takes what is submitted, then what the CSR proposes, then what the profile sets', () => {
    const { subject, sans, labels, extensions } = evaluate(template, { ...filling, csr, submitted: { subject: asked.subject } });
    assert.deepEqual(subject, [
      { element: 'cn.1', type: 'CN', value: 'www.example' },
      { element: 'ou.2', type: 'OU', value: 'Web' },
      { element: 'o.1', type: 'O', value: 'Example' },
    ]);
    assert.deepEqual(sans, [{ type: 'DNSNAME', value: ['csr.example'] }]);
    assert.deepEqual(labels, [{ label: 'site', value: 'north' }]);
    assert.deepEqual(extensions, []);
  });

  it('counts DN elements of a type from 1, in the CSR too', () => {
    const two = { ...csr, subject: ['one', 'two', 'three'].map((value) => ({ type: 'OU', value })) };
    const { subject } = evaluate(template, { ...filling, csr: two });
    assert.deepEqual(
      subject.filter(({ type }) => type === 'OU').map(({ element, value }) => [element, value]),
      [
        ['ou.1', 'one'],
        ['ou.2', 'Web'],
      ],
    );
  });

  it('takes a template answer back as it was given', () => {
    const described = describe(template, prefill(template, csr), 'requester');
    assert.deepEqual(
      evaluate(template, { ...filling, csr, submitted: described as Filling['submitted'] }),
      evaluate(template, { ...filling, csr, submitted: {} }),
    );
  });

  it('joins entries of one kind of SAN, each value once', () => {
    const sans = [
      { type: 'DNSNAME', value: ['a.example', 'b.example'] },
      { type: 'DNSNAME', value: ['a.example'] },
    ];
    assert.deepEqual(evaluate(template, { ...filling, submitted: { ...asked, sans } }).sans, [
      { type: 'DNSNAME', value: ['a.example', 'b.example'] },
    ]);
  });

  it('clears with an empty value and leaves alone with none', () => {
    const submitted = { ...asked, labels: [{ label: 'site' }], subject: [...asked.subject, { element: 'ou.1', value: '' }] };
    const { subject, labels } = evaluate(template, { ...filling, csr: { ...csr, subject: [{ type: 'OU', value: 'x' }] }, submitted });
    assert.ok(!subject.some(({ element }) => element === 'ou.1'));
    assert.deepEqual(labels, [{ label: 'site', value: 'north' }]);
  });
});

const refusals: readonly (readonly [string, string, RegExp, object, CertificateTemplate?])[] = [
  [
    'an element that cannot be edited',
    'subject',
    /^o\.1 cannot be edited/,
    { subject: [...asked.subject, { element: 'o.1', value: 'Mine' }] },
  ],
  ['clearing one', 'subject', /^o\.1 cannot be edited/, { subject: [...asked.subject, { element: 'o.1', value: '' }] }],
  ['an element for the approver alone', 'element', /^contactEmail cannot be edited/, { ...asked, contactEmail: { value: 'a@example' } }],
  ['an element that is not there', 'subject', /^ou\.3 is not part/, { subject: [...asked.subject, { element: 'ou.3', value: 'x' }] }],
  [
    'a kind of SAN that is not there',
    'san',
    /^IPADDRESS is not part/,
    { ...asked, sans: [...asked.sans, { type: 'IPADDRESS', value: ['192.0.2.1'] }] },
  ],
  ['a label that is not there', 'label', /^__proto__ is not part/, { ...asked, labels: [{ label: '__proto__', value: 'x' }] }],
  [
    'an extension that is not there',
    'element',
    /^ms_template is not part/,
    { ...asked, extensions: [{ type: 'ms_template', value: 'x' }] },
  ],
  ['a team', 'team', /no team/, { ...asked, team: { value: 'blue' } }],
  ['metadata', 'element', /pki_connector/, { ...asked, metadata: [{ metadata: 'pki_connector', value: 'x' }] }],
  ['one element twice', 'subject', /^CN\.1 is given twice/, { subject: [...asked.subject, { element: 'CN.1', value: 'x' }] }],
  ['a missing mandatory element', 'subject', /^cn\.1 is mandatory/, { sans: asked.sans }],
  ['too few SANs', 'san', /^DNSNAME takes at least 1 value$/, { subject: asked.subject }],
  [
    'too many SANs',
    'san',
    /^DNSNAME takes at most 3 values/,
    { ...asked, sans: [{ type: 'DNSNAME', value: ['a', 'b', 'c', 'd'].map((name) => `${name}.example`) }] },
  ],
  ['a value that does not fit', 'subject', /^cn\.1 does not fit/, { ...asked, subject: [{ element: 'cn.1', value: 'A B' }] }],
  ['a SAN that does not fit', 'san', /does not fit/, { ...asked, sans: [{ type: 'DNSNAME', value: ['a.example', 'a.test'] }] }],
  ['a label outside its choices', 'label', /^site is none of north, south/, { ...asked, labels: [{ label: 'site', value: 'east' }] }],
  [
    'a value that the label itself refuses',
    'label',
    /^site does not fit/,
    { ...asked, labels: [{ label: 'site', value: 'No 1' }] },
    { labels: [{ label: 'site', ...anyEdit }] },
  ],
  [
    'what is no text',
    'subject',
    /^ou\.1 holds what is no text/,
    { ...asked, subject: [...asked.subject, { element: 'ou.1', value: 'a\0' }] },
  ],
];

group('what a template refuses', () => {
  for (const [what, part, detail, submitted, parts = {}] of refusals) {
    it(what, () => {
      assert.throws(
        () => evaluate(withParts(parts), { ...filling, submitted }),
        (error) => error instanceof ElementError && error.part === part && detail.test(error.detail),
      );
    });
  }

  it('lets what only an approver may fill wait for the approver, and no longer', () => {
    const base = evaluate(template, filling);
    assert.throws(() => evaluate(template, { ...filling, awaitsApproval: false }), /contactEmail is mandatory/);
    assert.throws(() => evaluate(template, { submitted: {}, by: 'approver', base }), /contactEmail is mandatory/);
    const approved = evaluate(template, { submitted: { contactEmail: { value: 'ada@example' } }, by: 'approver', base });
    assert.deepEqual(approved, { ...base, contactEmail: { value: 'ada@example' } });
    assert.throws(() => evaluate(template, { submitted: { contactEmail: { value: 'ada@other' } }, by: 'approver', base }), /does not fit/);
  });

  it('lets an approver change what approvers may, keep the rest, and nothing else', () => {
    const base = evaluate(template, filling);
    const edit = (element: string, value: string) =>
      evaluate(template, { by: 'approver', base, submitted: { contactEmail: { value: 'a@example' }, subject: [{ element, value }] } });
    assert.equal(edit('ou.2', 'Other').subject.find(({ element }) => element === 'ou.2')?.value, 'Other');
    assert.equal(edit('o.1', 'Example').subject.find(({ element }) => element === 'o.1')?.value, 'Example');
    assert.throws(() => edit('o.1', 'Other'), /o\.1 cannot be edited/);
  });
});

group('the template answer', () => {
  const answer = JSON.parse(JSON.stringify(describe(template, prefill(template, csr), 'requester')));

  it('says of each element what it is and what may be done', () => {
    assert.deepEqual(answer.subject[0], {
      element: 'cn.1',
      type: 'CN',
      value: 'csr.example',
      mandatory: true,
      editable: true,
      regex: '^[a-z0-9.-]+$',
    });
    assert.deepEqual(answer.subject[2], { element: 'ou.2', type: 'OU', value: 'Web', mandatory: false, editable: false });
    assert.deepEqual(answer.sans, [{ type: 'DNSNAME', value: ['csr.example'], editable: true, regex: '\\.example$', min: 1, max: 3 }]);
    const site = {
      label: 'site',
      displayName: label.displayName,
      value: 'north',
      mandatory: true,
      editable: true,
      regex: '^[a-z]+$',
      enum: ['north', 'south'],
    };
    assert.deepEqual(answer.labels, [site]);
    assert.deepEqual(answer.extensions, [{ type: 'ms_sid', mandatory: false, editable: true }]);
    assert.deepEqual(answer.contactEmail, { mandatory: true, editable: false, regex: '@example$' });
    assert.deepEqual([answer.team, answer.metadata], [{ mandatory: false, editable: false }, []]);
  });

  it('is said for whoever asks', () => {
    const approver = describe(template, prefill(template, csr), 'approver');
    assert.equal(approver.subject[2]?.editable, true);
    assert.equal(approver.extensions[0]?.editable, false);
  });
});

// Whatever is submitted and proposed

const word = fc.constantFrom('a.example', 'b.example', 'north', 'x', '', 'Example', 'Web', '__proto__');
const value = fc.option(word, { nil: undefined });
const element = fc.record({ element: fc.constantFrom('ou.1', 'ou.2', 'ou.3', 'o.1', 'l.1', 'cn.0'), value });
const submittedAnything = fc.record({
  subject: fc.array(element, { maxLength: 2 }).map((elements) => [...asked.subject, ...elements]),
  sans: fc.oneof(
    fc.constant(asked.sans),
    fc.array(fc.record({ type: fc.constantFrom('DNSNAME', 'URI'), value: fc.array(word, { maxLength: 3 }) }), { maxLength: 2 }),
  ),
  extensions: fc.array(fc.record({ type: fc.constantFrom('ms_sid', 'ms_template'), value }), { maxLength: 1 }),
  labels: fc.array(fc.record({ label: fc.constantFrom('site', '__proto__'), value }), { maxLength: 1 }),
  owner: fc.record({ value }),
});
const typed = (...types: string[]) => fc.array(fc.record({ type: fc.constantFrom(...types), value: word }), { maxLength: 4 });
const proposedAnything = fc.record({
  subject: typed('CN', 'O', 'OU', 'L', '2.5.4.99'),
  sans: typed('DNSNAME', 'URI'),
  extensions: typed('ms_sid').map((all) => all.slice(0, 1)),
});

it('lets nothing through that the template does not name, and changes nothing that it keeps', () => {
  const slots = slotsOf(template);
  const names = new Set(slots.map(({ key }) => key));
  let passed = 0;
  fc.assert(
    fc.property(submittedAnything, fc.option(proposedAnything, { nil: undefined }), (submitted, proposed) => {
      let result: Evaluated;
      try {
        result = evaluate(template, { submitted, csr: proposed, by: 'requester', awaitsApproval: true });
      } catch (error) {
        assert.ok(error instanceof ElementError, String(error));
        return;
      }
      passed += 1;
      const values = read(result);
      for (const key of values.keys()) assert.ok(names.has(key), key);
      for (const { key, editors, default: own } of slots) {
        if (!editors.includes('requester')) assert.deepEqual(values.get(key) ?? [], own === undefined ? [] : [own], key);
      }
      assert.deepEqual(evaluate(template, { submitted: {}, base: result, by: 'requester', awaitsApproval: true }), result);
    }),
    { numRuns: 2000 },
  );
  assert.ok(passed > 200, `${passed} passed`);
});
