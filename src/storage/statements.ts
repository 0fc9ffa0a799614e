/** Changes as SQL: one multi-row statement for all changes of one shape. Names come from table declarations, values are always bound. */
import type { Change, Table, Values } from '../kernel/change.ts';

export interface Batch {
  readonly name: string;
  readonly text: string;
  readonly changes: readonly Change[];
  /** The rows as the statement's only parameter. */
  readonly rows: string;
}

interface Parts {
  readonly key: Values;
  readonly set: Values;
  readonly expect: Values;
}
const partsOf = (change: Change): Parts =>
  change.op === 'insert'
    ? { key: {}, set: change.row, expect: {} }
    : { key: change.key, set: change.op === 'update' ? change.set : {}, expect: change.expect };

/** In one order for every process (table and shape, then key), so that groups wait for each other but hardly ever in a circle. */
export function batches(changes: readonly Change[]): readonly Batch[] {
  const byShape = new Map<string, { change: Change; parts: Parts }[]>();
  for (const change of changes) {
    const parts = partsOf(change);
    const shape = [change.table.name, change.op, ...[parts.key, parts.set, parts.expect].map((part) => Object.keys(part).join())].join('|');
    const same = byShape.get(shape);
    if (same) same.push({ change, parts });
    else byShape.set(shape, [{ change, parts }]);
  }
  const shapes = [...byShape].sort(([a, [first]], [b, [second]]) => {
    const [one, other] = [phases[first!.change.op], phases[second!.change.op]];
    if (one !== other) return one - other;
    // What refers goes before what it refers to: tables are named in the order of their foreign keys.
    return a < b === (first!.change.op !== 'remove') ? -1 : 1;
  });
  return shapes.map(([shape, members]) => {
    if (members.length > 1 && members[0]!.change.op !== 'insert') members.sort((a, b) => (sortKey(a.parts) < sortKey(b.parts) ? -1 : 1));
    const { change, parts } = members[0]!;
    return {
      ...statementOf(shape, change, parts),
      changes: members.map((m) => m.change),
      rows: JSON.stringify(members.map((m) => record(m.parts))),
    };
  });
}
/** Removals first and guards last, so that what one unit of a group guards against is seen when another unit of it does it. */
const phases = { remove: 0, insert: 1, update: 1, guard: 2 } as const;
const sortKey = ({ key }: Parts): string => Object.values(key).join('\u0000');

/** One row of the parameter: `k_` what it is found by, `s_` what it becomes, `e_` what it must hold. */
function record({ key, set, expect }: Parts): Values {
  const row: Record<string, unknown> = {};
  for (const name in key) row[`k_${name}`] = encode(key[name]);
  for (const name in set) row[`s_${name}`] = encode(set[name]);
  for (const name in expect) row[`e_${name}`] = encode(expect[name]);
  return row;
}
const encode = (value: unknown): unknown =>
  value instanceof Uint8Array ? `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}` : value;

const statements = new Map<string, { readonly name: string; readonly text: string }>();

function statementOf(shape: string, { table, op }: Change, { key, set, expect }: Parts): { readonly name: string; readonly text: string } {
  const known = statements.get(shape);
  if (known) return known;
  const [keys, sets, expects] = [key, set, expect].map((part) => Object.keys(part)) as [string[], string[], string[]];
  const columns = [
    ...keys.map((c) => `k_${c} ${typeOf(table, c)}`),
    ...sets.map((c) => `s_${c} ${typeOf(table, c)}`),
    ...expects.map((c) => `e_${c} ${typeOf(table, c)}`),
  ];
  const from = `json_to_recordset($1::json) as x(${columns.join(', ')})`;
  const where = [...keys.map((c) => `t.${c} = x.k_${c}`), ...expects.map((c) => `t.${c} is not distinct from x.e_${c}`)].join(' and ');
  const text = {
    insert: () => `insert into ${table.name} (${sets.join(', ')}) select ${sets.map((c) => `x.s_${c}`).join(', ')} from ${from}`,
    update: () => `update ${table.name} t set ${sets.map((c) => `${c} = x.s_${c}`).join(', ')} from ${from} where ${where}`,
    remove: () => `delete from ${table.name} t using ${from} where ${where}`,
    guard: () => `select 1 from ${table.name} t, ${from} where ${where} for share of t`,
  }[op]();
  const statement = { name: `change-${statements.size}`, text };
  statements.set(shape, statement);
  return statement;
}

function typeOf(table: Table, column: string): string {
  const type = table.columns[column];
  if (!type) throw new Error(`${table.name} has no column ${column}`);
  return type;
}
