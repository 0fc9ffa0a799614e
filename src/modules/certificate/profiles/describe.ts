/** The template answer: every element with its value and what may be done to it (wire b.2). Reads the same slots that template.ts fills. */
import { type Editor, type Slot, type SlotKind, slotsOf, type Template } from './slots.ts';
import { type Evaluated, read } from './template.ts';

/** `WebRAEnrollRequestTemplateResponse` less what is not of the template; a key without a value is undefined. `by`: for whom `editable` is said. */
export function describe(template: Template, values: Evaluated, by: Editor) {
  const slots = slotsOf(template);
  const filled = read(values);
  const { ownerPolicy, contactEmailPolicy } = template.elements;

  const of = (wanted: SlotKind) => slots.filter(({ kind }) => kind === wanted);
  const facts = ({ key, editors, regexes: [regex], min }: Slot) => ({
    value: filled.get(key)?.[0],
    mandatory: min > 0,
    editable: editors.includes(by),
    regex,
  });
  const policy = (kind: SlotKind) => of(kind).map(facts)[0] ?? { mandatory: false, editable: false };
  return {
    subject: of('subject').map((slot) => ({ element: slot.name, type: slot.type, ...facts(slot) })),
    sans: of('san').map(({ key, name, editors, regexes: [regex], min, max }) => ({
      type: name,
      value: filled.get(key) ?? [],
      editable: editors.includes(by),
      regex,
      min,
      max: Number.isFinite(max) ? max : undefined,
    })),
    extensions: of('extension').map((slot) => ({ type: slot.name, ...facts(slot) })),
    labels: of('label').map((slot) => ({ label: slot.name, ...labelTexts(template, slot.name), ...facts(slot), enum: slot.choices })),
    owner: { ...policy('owner'), description: ownerPolicy?.description },
    contactEmail: {
      ...policy('contactEmail'),
      whitelist: contactEmailPolicy?.whitelist,
      description: contactEmailPolicy?.description,
    },
    team: { mandatory: false, editable: false },
    metadata: [],
  };
}

function labelTexts({ elements, labels }: Template, name: string) {
  const { displayName, description } = labels.get(name) ?? {};
  return { displayName, description, suggestions: elements.labels?.find(({ label }) => label === name)?.suggestions };
}
