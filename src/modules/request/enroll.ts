/** The enroll workflow of webra: what may be asked for, and how it becomes an order to an authority. */
import type { Context } from '../../kernel/context.ts';
import { routeErrors, type ServiceError, type Thrower } from '../../kernel/errors.ts';
import { DerError } from '../../lib/der/read.ts';
import { type Csr, parseCsrText, verifyCsr } from '../../lib/x509/csr.ts';
import { isValidGeneralName } from '../../lib/x509/general-names.ts';
import { InvalidValue } from '../../lib/x509/invalid-value.ts';
import { weakness } from '../../lib/x509/key-check.ts';
import { encodeName, formatDn, parseName } from '../../lib/x509/name.ts';
import { encodePem } from '../../lib/x509/pem.ts';
import {
  ElementError,
  type Evaluated,
  evaluate,
  extensionTypes,
  holderId,
  openTemplate,
  type Proposed,
  type WebraProfile,
} from '../certificate/index.ts';
import { type IssueOrder, OrderRefused, QueueFull } from '../pki/index.ts';
import { elementErrors, enrollErrors } from './errors.ts';
import type { EnrollTemplate } from './requests.store.ts';
import type { EnrollTemplateInput } from './schemas.ts';

/** A checked enrollment: nothing about it is left to decide but whether it may be. */
export interface Enrollment {
  readonly template: EnrollTemplate;
  readonly dn: string;
  readonly holderId: string;
  order(requestId: string): IssueOrder;
}

const problemOf: Readonly<Record<ElementError['part'], Thrower>> = {
  subject: enrollErrors.subject,
  san: enrollErrors.san,
  label: enrollErrors.label,
  element: elementErrors.element,
  team: elementErrors.team,
};

/** What a requester submits. Throws the problem of the first thing that is wrong. */
export async function enrollment(
  profile: WebraProfile,
  input: EnrollTemplateInput,
  awaitsApproval: boolean,
  { configuration }: Context,
): Promise<Enrollment> {
  const csr = await checkedCsr(profile, input);
  const template = await openTemplate(profile.certificateTemplate, configuration);
  return decided(csr, () => evaluate(template, { submitted: input, csr: proposedBy(csr), by: 'requester', awaitsApproval }));
}

/** The stored enrollment with what the approver changes in it. */
export async function editedEnrollment(
  profile: WebraProfile,
  stored: EnrollTemplate,
  edits: EnrollTemplateInput,
  { configuration }: Context,
): Promise<Enrollment> {
  const template = await openTemplate(profile.certificateTemplate, configuration);
  return decided(parseCsrText(stored.csr), () => evaluate(template, { submitted: edits, by: 'approver', base: stored.elements }));
}

/** What was decided, as it is stored. A profile that has changed since has no say in it any more. */
export const storedEnrollment = ({ elements, csr }: EnrollTemplate): Enrollment => decided(parseCsrText(csr), () => elements);

/** What a CSR proposes for the elements of a template; DN elements in the order of the DN's text, leaf first. */
export const proposedBy = ({ subject, sans, extensions }: Csr): Proposed => ({
  subject: subject.rdns.toReversed().flat(),
  sans,
  extensions: extensionTypes.flatMap((type) => (extensions[type] === undefined ? [] : [{ type, value: extensions[type] }])),
});

async function checkedCsr(profile: WebraProfile, { csr: text, keyType }: EnrollTemplateInput): Promise<Csr> {
  if ((text === undefined) === (keyType === undefined)) throw enrollErrors.mode("exactly one of 'csr' and 'keyType' is needed");
  if (text === undefined) throw enrollErrors.mode('the profile does not make keys');
  if (!profile.cryptoPolicy.decentralized) throw enrollErrors.mode('the profile takes no certificate requests');
  const csr = readCsr(text);
  const weak = weakness(csr.spki);
  if (weak) throw enrollErrors.keyType(weak);
  const type = csr.publicKey.keyType;
  if (!type) throw enrollErrors.keyType('the key is of no known type');
  const authorized = profile.cryptoPolicy.authorizedKeyTypes;
  if (authorized && !authorized.includes(type)) throw enrollErrors.keyType(`the profile takes ${authorized.join(', ')}, not ${type}`);
  if (!(await verifyCsr(csr))) throw enrollErrors.csr('its signature is not that of its key');
  return csr;
}

export function readCsr(text: string): Csr {
  try {
    return parseCsrText(text);
  } catch (error) {
    if (error instanceof DerError) throw enrollErrors.csr(error.message);
    throw error;
  }
}

function decided(csr: Csr, evaluated: () => Evaluated): Enrollment {
  const elements = checked(evaluated);
  const sans = elements.sans.flatMap(({ type, value }) => value.map((text) => ({ type, value: text })));
  const wrong = sans.find((name) => !isValidGeneralName(name));
  if (wrong) throw enrollErrors.san(`'${wrong.value}' is no ${wrong.type}`);
  const extensions = Object.fromEntries(elements.extensions.map(({ type, value }) => [type, value]));
  const subject = subjectOf(elements);
  const dn = formatDn(parseName(subject));
  return {
    template: { elements, csr: encodePem('CERTIFICATE REQUEST', csr.der) },
    dn,
    holderId: holderId(dn, sans),
    order: (id) => ({ id, subject, sans, extensions, spki: csr.spki, keyType: csr.publicKey.keyType! }),
  };
}

function checked(evaluated: () => Evaluated): Evaluated {
  try {
    return evaluated();
  } catch (error) {
    throw error instanceof ElementError ? problemOf[error.part](error.detail) : error;
  }
}

/** A template lists the subject as its text reads, leaf first; names are encoded root first. */
function subjectOf({ subject }: Evaluated): Uint8Array {
  try {
    return encodeName(subject.toReversed());
  } catch (error) {
    throw error instanceof InvalidValue ? enrollErrors.subject(error.message) : error;
  }
}

/** What a connector's refusal means to the caller. Its other failures reach the log alone. */
export function issuanceProblem(error: unknown, { log }: Context): ServiceError {
  if (error instanceof OrderRefused) return enrollErrors.failed(error.message);
  if (error instanceof QueueFull) return routeErrors.unavailable(error.message);
  log.error({ err: error }, 'an authority failed');
  return enrollErrors.failed();
}
