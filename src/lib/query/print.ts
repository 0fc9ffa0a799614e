/** Tree → query text, in one canonical spelling: parse(print(tree)) is the tree again. */
import { quote } from './lex.ts';
import { type Condition, type Instant, isGroup, type Tree } from './tree.ts';

export function print(tree: Tree): string {
  if (!isGroup(tree)) return printCondition(tree);
  const terms = tree.terms.map((term) => (needsParentheses(term, tree.kind) ? `(${print(term)})` : print(term)));
  return terms.join(` ${tree.kind} `);
}

/** Only where the tree would be read otherwise, so that printing never nests deeper than what was parsed. */
function needsParentheses(term: Tree, within: 'and' | 'or'): boolean {
  return term.kind === 'or' || (term.kind === 'and' && within === 'and');
}

function printCondition(condition: Condition): string {
  const { field, not } = condition;
  if (condition.kind === 'special') {
    const negation = { is: 'not', has: 'no' }[condition.verb];
    return words(field, condition.verb, not && negation, condition.value);
  }
  if (condition.kind === 'exists') return words(field, not && 'not', 'exists');
  return words(field, not && 'not', condition.operator, operand(condition));
}

function operand(condition: Exclude<Condition, { kind: 'exists' | 'special' }>): string {
  if (condition.kind === 'date') return printInstant(condition.instant);
  if (condition.kind === 'grade') return condition.grade;
  const values = condition.values.map((value) => (typeof value === 'string' ? quote(value) : String(value)));
  return condition.operator === 'in' || condition.operator === 'within' ? `[${values.join(', ')}]` : values.join();
}

function printInstant(instant: Instant): string {
  if (typeof instant === 'string') return instant;
  return 'date' in instant ? quote(instant.date) : `${instant.amount}${instant.unit}`;
}

const words = (...parts: readonly (string | false)[]) => parts.filter((part) => part !== false).join(' ');
