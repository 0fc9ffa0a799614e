/** What a certificate of a profile consists of: its subject, names, extensions, labels, owner and contact, as the profile declares them.
 *  How they are filled: template.ts. */
import { z } from 'zod';
import { localizedTexts } from '../../../kernel/schema.ts';
import type { SanType } from '../../../lib/x509/general-names.ts';
import { attributeTypes, findAttributeType } from '../../../lib/x509/name.ts';
import { pattern } from '../pattern.ts';

export const sanTypes: readonly [SanType, ...SanType[]] = [
  'RFC822NAME',
  'DNSNAME',
  'URI',
  'IPADDRESS',
  'OTHERNAME_UPN',
  'OTHERNAME_GUID',
  'REGISTERED_ID',
];
export const extensionTypes = ['ms_sid', 'ms_template', 'ms_template_v2'] as const;
export type ExtensionType = (typeof extensionTypes)[number];
/** What answers can hold. */
export const metadataKeys = [
  'pki_connector',
  'previous_certificate_id',
  'renewed_certificate_id',
  'automation_policy',
  'gs_order_id',
  'metapki_id',
  'digicert_id',
  'entrust_id',
  'scep_transid',
  'fcms_id',
  'gsatlas_id',
  'certeurope_id',
  'digicert_order_id',
] as const;

const value = z.string().max(32_768);
const values = z.array(value).max(10_000);
const count = z.int().min(0).max(10_000);
const computationRule = z.string().max(10_000).optional();
const editable = { editableByRequester: z.boolean().optional(), editableByApprover: z.boolean().optional() };
const editableStated = { editableByRequester: z.boolean(), editableByApprover: z.boolean() };
const dnType = z.string().refine((type) => findAttributeType(type)?.display === type, 'unknown type of DN element');

/** `cn.1`: the n-th DN element of a type. */
export const dnIndex = z.string().regex(new RegExp(`^((${attributeTypes.map(({ wire }) => wire).join('|')})\\.[1-9]\\d*)$`));

const dnElement = z
  .object({ type: dnType, value: value.optional(), computationRule, mandatory: z.boolean(), ...editable, regex: pattern.optional() })
  .meta({ id: 'DNElement' });

const sanElement = z
  .object({ type: z.enum(sanTypes), computationRule, ...editable, regex: pattern.optional(), min: count.optional(), max: count.optional() })
  .meta({ id: 'SANElement' });

const extensionElement = z
  .object({
    type: z.enum(extensionTypes),
    value: value.optional(),
    computationRule,
    mandatory: z.boolean(),
    ...editable,
    regex: pattern.optional(),
  })
  .meta({ id: 'ExtensionElement' });

const labelElement = z
  .object({
    label: z.string(),
    value: value.optional(),
    computationRule,
    mandatory: z.boolean().optional(),
    ...editable,
    regex: pattern.optional(),
    enum: values.optional(),
    suggestions: values.optional(),
  })
  .meta({ id: 'LabelElement' });

const ownerPolicy = z
  .object({ ...editableStated, computationRule, mandatory: z.boolean(), description: localizedTexts })
  .meta({ id: 'OwnerPolicy' });

const contactEmailPolicy = z
  .object({
    value: value.optional(),
    computationRule,
    mandatory: z.boolean(),
    ...editable,
    regex: pattern.optional(),
    whitelist: values.optional(),
    description: localizedTexts,
  })
  .meta({ id: 'ContactEmailPolicy' });

const teamPolicy = z
  .object({
    ...editableStated,
    regex: pattern.optional(),
    whitelist: values.optional(),
    value: value.optional(),
    computationRule,
    mandatory: z.boolean(),
    description: localizedTexts,
  })
  .meta({ id: 'TeamPolicy' });

const metadataPolicy = z.object({ metadata: z.enum([...metadataKeys, 'contact_email']), ...editableStated }).meta({ id: 'MetadataPolicy' });

const elements = <Element extends z.ZodType>(element: Element) => z.array(element).max(1_000).optional();

export const certificateTemplate = z
  .object({
    subject: elements(dnElement),
    sans: elements(sanElement),
    extensions: elements(extensionElement),
    ownerPolicy: ownerPolicy.optional(),
    teamPolicy: teamPolicy.optional(),
    metadataPolicies: elements(metadataPolicy),
    labels: elements(labelElement),
    contactEmailPolicy: contactEmailPolicy.optional(),
  })
  .meta({ id: 'CertificateTemplate' });
export type CertificateTemplate = Readonly<z.infer<typeof certificateTemplate>>;

/** Paths of the elements that have a computation rule. */
export function computedElements(template: CertificateTemplate): readonly string[] {
  const isComputed = (element: object) => 'computationRule' in element && Boolean(element.computationRule);
  return Object.entries(template).flatMap(([name, part]: [string, object | undefined]) => {
    if (Array.isArray(part)) return part.flatMap((element, at) => (isComputed(element) ? [`${name}.${at}`] : []));
    return part && isComputed(part) ? [name] : [];
  });
}

/** What makes a template unusable, after the path of the part that does; undefined for a good one. */
export function flawOf(template: CertificateTemplate): string | undefined {
  const { subject = [], sans = [], extensions = [], labels = [], ownerPolicy, contactEmailPolicy } = template;
  const flaws = [
    ['subject', subject.some(({ type, mandatory }) => type === 'CN' && mandatory) ? undefined : 'a mandatory CN is missing'],
    ...subject.map((element, at) => [`subject.${at}`, unfillable(element)]),
    ...sans.map((element, at) => [`sans.${at}`, twice(sans, 'type', at) ?? flawOfCounts(element)]),
    ...extensions.map((element, at) => [`extensions.${at}`, twice(extensions, 'type', at) ?? unfillable(element)]),
    ...labels.map((element, at) => [`labels.${at}`, twice(labels, 'label', at) ?? unfillable(element) ?? flawOfChoices(element)]),
    ['ownerPolicy', ownerPolicy && unfillable(ownerPolicy)],
    ['contactEmailPolicy', contactEmailPolicy && unfillable(contactEmailPolicy)],
  ] as const;
  const found = flaws.find(([, flaw]) => flaw !== undefined);
  return found && `${found[0]}: ${found[1]}`;
}

type San = NonNullable<CertificateTemplate['sans']>[number];
type LabelElement = NonNullable<CertificateTemplate['labels']>[number];
interface Fillable {
  readonly mandatory?: boolean | undefined;
  readonly editableByRequester?: boolean | undefined;
  readonly editableByApprover?: boolean | undefined;
  readonly value?: string | undefined;
}

const unfillable = ({ mandatory, editableByRequester, editableByApprover, value }: Fillable): string | undefined =>
  mandatory && !editableByRequester && !editableByApprover && !value
    ? 'it is mandatory, and neither editable nor given a value'
    : undefined;

function flawOfCounts({ min = 0, max = min, ...editing }: San): string | undefined {
  return min > max ? `min ${min} is above max ${max}` : unfillable({ mandatory: min > 0, ...editing });
}

const flawOfChoices = (label: LabelElement): string | undefined =>
  [label.enum, label.suggestions, label.regex].filter((choice) => choice !== undefined && choice.length > 0).length > 1
    ? 'only one of enum, suggestions and regex can be given'
    : undefined;

const twice = <Key extends string>(list: readonly Readonly<Record<Key, string>>[], key: Key, at: number): string | undefined =>
  list.findIndex((element) => element[key] === list[at]?.[key]) < at ? `'${list[at]?.[key]}' stands twice` : undefined;
