/** Fills a profile's template: what is submitted, what the CSR proposes, what the profile sets. Nothing that the template does not name gets
 *  through. Pure; whether a value can be encoded is for lib/x509 to say. */
import { isStorable } from '../../../kernel/schema.ts';
import type { SanType } from '../../../lib/x509/general-names.ts';
import { fits } from '../pattern.ts';
import type { ExtensionType } from './elements.ts';
import { type Editor, type Slot, type SlotKey, type SlotKind, slotKey, slotsOf, type Template } from './slots.ts';

/** The values of a certificate to be, in the order of the template; what is empty is left out. As plain answers hold it (wire b.2). */
export interface Evaluated {
  /** `element` = `cn.1`, `type` = `CN`. */
  readonly subject: readonly { readonly element: string; readonly type: string; readonly value: string }[];
  readonly sans: readonly { readonly type: SanType; readonly value: readonly string[] }[];
  readonly extensions: readonly { readonly type: ExtensionType; readonly value: string }[];
  readonly labels: readonly { readonly label: string; readonly value: string }[];
  readonly owner?: { readonly value: string };
  readonly contactEmail?: { readonly value: string };
}

interface Valued {
  readonly value?: string | undefined;
}
/** What a caller sends. An absent value says nothing; an empty one (`''`, `[]`) that there shall be none. */
export interface Submitted {
  readonly subject?: readonly (Valued & { readonly element: string })[] | undefined;
  readonly sans?: readonly { readonly type?: string | undefined; readonly value?: readonly string[] | undefined }[] | undefined;
  readonly extensions?: readonly (Valued & { readonly type: string })[] | undefined;
  readonly labels?: readonly (Valued & { readonly label: string })[] | undefined;
  readonly owner?: Valued | undefined;
  readonly contactEmail?: Valued | undefined;
  readonly team?: Valued | undefined;
  readonly metadata?: readonly (Valued & { readonly metadata: string })[] | undefined;
}

interface Typed {
  readonly type: string;
  readonly value: string;
}
/** What a CSR asks for, types as lib/x509 names them. The n-th DN element of a type is element `<type>.<n>`. */
export interface Proposed {
  readonly subject: readonly (Typed & { readonly isText?: boolean })[];
  readonly sans: readonly Typed[];
  readonly extensions: readonly Typed[];
}

/** Which error an element has on the wire. */
export type ElementPart = 'subject' | 'san' | 'label' | 'element' | 'team';

export class ElementError extends Error {
  readonly part: ElementPart;
  readonly detail: string;
  constructor(part: ElementPart, detail: string) {
    super(detail);
    this.name = 'ElementError';
    this.part = part;
    this.detail = detail;
  }
}

export interface Filling {
  readonly submitted: Submitted;
  readonly by: Editor;
  readonly csr?: Proposed | undefined;
  /** What an approver edits: it stands in place of the CSR and the template's defaults. */
  readonly base?: Evaluated | undefined;
  /** An approver is going to see it: what only an approver may fill can still be missing. */
  readonly awaitsApproval?: boolean;
}

/** Throws `ElementError`. */
export function evaluate(template: Template, { submitted, by, csr, base, awaitsApproval = false }: Filling): Evaluated {
  const slots = slotsOf(template);
  const given = read(submitted);
  const standing = base ? read(base) : proposals(slots, csr);
  refuseStrangers(slots, given, submitted);
  return collect(slots, (slot) => {
    const values = choose(slot, by, given.get(slot.key), standing.get(slot.key) ?? []);
    check(slot, values, awaitsApproval && !slot.editors.includes(by) && slot.editors.includes('approver'));
    return values;
  });
}

/** What a request starts from: the CSR's values and the template's defaults, unchecked. */
export function prefill(template: Template, csr?: Proposed): Evaluated {
  const slots = slotsOf(template);
  const standing = proposals(slots, csr);
  return collect(slots, (slot) => standing.get(slot.key) ?? []);
}

type Values = ReadonlyMap<SlotKey, readonly string[]>;

/** By slot. Values of one kind of SAN may come in several entries; anything else comes once. */
export function read({ subject = [], sans = [], extensions = [], labels = [], owner, contactEmail }: Submitted): Values {
  const entries: readonly (readonly [SlotKind, string, string | readonly string[] | undefined])[] = [
    ...subject.map(({ element, value }) => ['subject', element, value] as const),
    ...sans.map(({ type = '', value }) => ['san', type, value] as const),
    ...extensions.map(({ type, value }) => ['extension', type, value] as const),
    ...labels.map(({ label, value }) => ['label', label, value] as const),
    ['owner', 'owner', owner?.value],
    ['contactEmail', 'contactEmail', contactEmail?.value],
  ];
  const values = new Map<SlotKey, readonly string[]>();
  for (const [kind, name, value] of entries) {
    if (value === undefined) continue;
    const key = slotKey(kind, name);
    if (values.has(key) && kind !== 'san') throw new ElementError(partOf[kind], `${name} is given twice`);
    values.set(
      key,
      [...new Set([...(values.get(key) ?? []), ...[value].flat()])].filter((text) => text !== ''),
    );
  }
  return values;
}

/** A CSR is the requester's word: it proposes values where a requester may edit, and is passed over where the profile has settled them. */
function proposals(slots: readonly Slot[], csr?: Proposed): Values {
  const proposed = csr ? read(asked(csr)) : new Map<SlotKey, readonly string[]>();
  return new Map(
    slots.map((slot) => {
      const own = slot.default === undefined ? [] : [slot.default];
      const fromCsr = slot.editors.includes('requester') ? proposed.get(slot.key) : undefined;
      return [slot.key, fromCsr ?? own];
    }),
  );
}

/** What a CSR asks for, as if somebody submitted it; values that are no texts are none. */
function asked({ subject, sans, extensions }: Proposed): Submitted {
  const counts = new Map<string, number>();
  const elements = subject.map(({ type, value, isText = true }) => {
    const count = (counts.get(type) ?? 0) + 1;
    counts.set(type, count);
    return { element: `${type}.${count}`, value: isText ? value : undefined };
  });
  return { subject: elements, sans: sans.map(({ type, value }) => ({ type, value: [value] })), extensions };
}

const partOf: Readonly<Record<SlotKind, ElementPart>> = {
  subject: 'subject',
  san: 'san',
  label: 'label',
  extension: 'element',
  owner: 'element',
  contactEmail: 'element',
};

/** Whoever asks for what the template does not have is told so. */
function refuseStrangers(slots: readonly Slot[], given: Values, { team, metadata = [] }: Submitted): void {
  const known = new Set(slots.map(({ key }) => key));
  for (const [key, values] of given) {
    const [kind, name] = [key.slice(0, key.indexOf('/')) as SlotKind, key.slice(key.indexOf('/') + 1)];
    if (values.length > 0 && !known.has(key)) throw new ElementError(partOf[kind], `${name} is not part of the profile's template`);
  }
  if (team?.value) throw new ElementError('team', "the profile's template has no team");
  const extra = metadata.find(({ value }) => value);
  if (extra) throw new ElementError('element', `metadata ${extra.metadata} cannot be edited`);
}

function choose(slot: Slot, by: Editor, given: readonly string[] | undefined, standing: readonly string[]): readonly string[] {
  if (given === undefined || sameValues(given, standing)) return standing;
  if (!slot.editors.includes(by)) throw failure(slot, 'cannot be edited');
  return given;
}

const sameValues = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((value) => b.includes(value));

/** Bounds what a regular expression has to read. */
const lengthMax = 10_000;

function check(slot: Slot, values: readonly string[], mayBeMissing: boolean): void {
  const { min, max, regexes, choices } = slot;
  if (values.length < min && !mayBeMissing)
    throw failure(slot, max === 1 ? 'is mandatory' : `takes at least ${min} value${min > 1 ? 's' : ''}`);
  if (values.length > max) throw failure(slot, `takes at most ${max} value${max === 1 ? '' : 's'}`);
  for (const value of values) {
    if (!isStorable(value)) throw failure(slot, 'holds what is no text');
    if (value.length > lengthMax) throw failure(slot, `is longer than ${lengthMax} characters`);
    const regex = regexes.find((candidate) => !fits(value, candidate));
    if (regex !== undefined) throw failure(slot, `does not fit ${regex}`);
    if (choices && choices.length > 0 && !choices.includes(value)) throw failure(slot, `is none of ${choices.slice(0, 20).join(', ')}`);
  }
}

const failure = ({ kind, name }: Slot, what: string): ElementError => new ElementError(partOf[kind], `${name} ${what}`);

function collect(slots: readonly Slot[], valuesOf: (slot: Slot) => readonly string[]): Evaluated {
  const filled = slots.flatMap((slot) => {
    const values = valuesOf(slot);
    return values[0] === undefined ? [] : [{ ...slot, values, value: values[0] }];
  });
  const of = (wanted: SlotKind) => filled.filter(({ kind }) => kind === wanted);
  const [[owner], [contactEmail]] = [of('owner'), of('contactEmail')];
  return {
    subject: of('subject').map(({ name, type, value }) => ({ element: name, type, value })),
    sans: of('san').map(({ type, values }) => ({ type: type as SanType, value: values })),
    extensions: of('extension').map(({ type, value }) => ({ type: type as ExtensionType, value })),
    labels: of('label').map(({ name, value }) => ({ label: name, value })),
    ...(owner ? { owner: { value: owner.value } } : {}),
    ...(contactEmail ? { contactEmail: { value: contactEmail.value } } : {}),
  };
}
