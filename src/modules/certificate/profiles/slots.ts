/** A template taken apart: one slot for each thing that can be filled, all of one shape, whatever it is that they hold. */
import type { Configuration } from '../../../kernel/configuration.ts';
import { findAttributeType } from '../../../lib/x509/name.ts';
import { type Label, labels as labelCollection } from '../labels.ts';
import type { CertificateTemplate } from './elements.ts';

export type Editor = 'requester' | 'approver';
export type SlotKind = 'subject' | 'san' | 'extension' | 'label' | 'owner' | 'contactEmail';

/** A profile's template with the labels that it names. */
export interface Template {
  readonly elements: CertificateTemplate;
  readonly labels: ReadonlyMap<string, Label>;
}

export interface Slot {
  readonly key: SlotKey;
  readonly kind: SlotKind;
  /** What requests call it: `cn.1`, `DNSNAME`, `ms_sid`, the label's name, `owner`. */
  readonly name: string;
  /** Of a DN element: `CN`; else the name. */
  readonly type: string;
  readonly editors: readonly Editor[];
  /** How many values it takes. */
  readonly min: number;
  readonly max: number;
  readonly default?: string | undefined;
  /** Each of which a value must fit. */
  readonly regexes: readonly string[];
  /** A closed list of values. */
  readonly choices?: readonly string[] | undefined;
}

/** What brings slots and values together. */
export type SlotKey = `${SlotKind}/${string}`;
/** Clients spell `serialNumber.1` in more than one way. */
export const slotKey = (kind: SlotKind, name: string): SlotKey => `${kind}/${kind === 'subject' ? name.toLowerCase() : name}`;

export async function openTemplate(elements: CertificateTemplate, configuration: Configuration): Promise<Template> {
  const found = await Promise.all((elements.labels ?? []).map(({ label }) => configuration.get<Label>(labelCollection.tag, label)));
  return { elements, labels: new Map(found.flatMap((stored) => (stored ? [[stored.body.name, stored.body]] : []))) };
}

interface Rule {
  readonly value?: string | undefined;
  readonly mandatory?: boolean | undefined;
  readonly editableByRequester?: boolean | undefined;
  readonly editableByApprover?: boolean | undefined;
  readonly regex?: string | undefined;
}

const editorsOf = ({ editableByRequester, editableByApprover }: Rule): readonly Editor[] => [
  ...(editableByRequester ? (['requester'] as const) : []),
  ...(editableByApprover ? (['approver'] as const) : []),
];
const regexesOf = (...regexes: readonly (string | undefined)[]): readonly string[] =>
  regexes.filter((regex) => regex !== undefined && regex !== '') as string[];

const single = (kind: SlotKind, name: string, rule: Rule): Slot => ({
  key: slotKey(kind, name),
  kind,
  name,
  type: name,
  editors: editorsOf(rule),
  min: rule.mandatory ? 1 : 0,
  max: 1,
  default: rule.value || undefined,
  regexes: regexesOf(rule.regex),
});

/** In the order of the template. */
export function slotsOf({ elements, labels }: Template): readonly Slot[] {
  const { subject = [], sans = [], extensions = [], labels: labelElements = [], ownerPolicy, contactEmailPolicy } = elements;
  return [
    ...subject.map((element, at) => ({ ...single('subject', elementName(subject, at), element), type: element.type })),
    ...sans.map((element) => ({
      ...single('san', element.type, element),
      min: element.min ?? 0,
      max: element.max ?? Number.POSITIVE_INFINITY,
    })),
    ...extensions.map((element) => single('extension', element.type, element)),
    ...labelElements.map((element) => ({
      ...single('label', element.label, element),
      regexes: regexesOf(element.regex, labels.get(element.label)?.regex),
      choices: element.enum,
    })),
    ...(ownerPolicy ? [single('owner', 'owner', ownerPolicy)] : []),
    ...(contactEmailPolicy
      ? [{ ...single('contactEmail', 'contactEmail', contactEmailPolicy), choices: contactEmailPolicy.whitelist }]
      : []),
  ];
}

/** `<type>.<n>`: DN elements are counted by type, from 1. */
function elementName(subject: NonNullable<CertificateTemplate['subject']>, at: number): string {
  const { type } = subject[at]!;
  const count = subject.slice(0, at + 1).filter((element) => element.type === type).length;
  return `${findAttributeType(type)!.wire}.${count}`;
}
