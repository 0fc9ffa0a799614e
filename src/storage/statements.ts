/** Changes as SQL: all of a group in one statement, which is a transaction of its own. Names come from table declarations, values are always bound. */
import type { Change, ColumnType, Table, Values } from '../kernel/change.ts';
import { encodeColumn, parameterText, valueText } from './columns.ts';

export interface GroupStatement {
  /** Absent where it is not worth preparing. */
  readonly name?: string;
  readonly text: string;
  readonly values: readonly (Buffer | number)[];
}

/** What the statement raises when a change did not touch exactly its row: division by zero. */
export const lostCondition = '22012';

interface Parts {
  readonly key: Values;
  readonly set: Values;
  readonly expect: Values;
}
interface Batch {
  /** Changes of one shape share a table, an operation and the columns they name. */
  readonly shape: string;
  readonly change: Change;
  readonly members: Parts[];
}

const partsOf = (change: Change): Parts =>
  change.op === 'insert'
    ? { key: {}, set: change.row, expect: {} }
    : { key: change.key, set: change.op === 'update' ? change.set : {}, expect: change.expect };

/** One statement for all changes; their order does not matter, since each sees the rows as they were before any of them. So no two of them may
 *  touch one row: the second would touch none, and the group is then lost. */
export function groupStatement(changes: readonly Change[]): GroupStatement {
  const batches = byShape(changes);
  const values = batches.flatMap((batch) => [
    ...columnsOf(batch).map(({ type, values: column }) => encodeColumn(type, column)),
    batch.members.length,
  ]);
  return { ...textOf(batches), values };
}

/** In one order for every process (shape, then key), so that groups wait for each other but hardly ever in a circle. */
function byShape(changes: readonly Change[]): readonly Batch[] {
  const batches = new Map<string, Batch>();
  for (const change of changes) {
    const parts = partsOf(change);
    const shape = `${change.table.name}|${change.op}|${Object.keys(parts.key)}|${Object.keys(parts.set)}|${Object.keys(parts.expect)}`;
    const same = batches.get(shape);
    if (same) same.members.push(parts);
    else batches.set(shape, { shape, change, members: [parts] });
  }
  for (const { change, members } of batches.values()) if (change.op !== 'insert' && members.length > 1) members.sort(byKey);
  return [...batches.values()].sort((a, b) => (a.shape < b.shape ? -1 : 1));
}
const keyText = ({ key }: Parts): string => Object.values(key).join('\u0000');
const byKey = (a: Parts, b: Parts): number => (keyText(a) < keyText(b) ? -1 : 1);

interface Column {
  /** `k_` what a row is found by, `s_` what it becomes, `e_` what it must hold. */
  readonly alias: string;
  readonly name: string;
  readonly type: ColumnType;
  readonly values: readonly unknown[];
}

function columnsOf({ change: { table }, members }: Batch): readonly Column[] {
  const of = (prefix: string, part: keyof Parts) =>
    Object.keys(members[0]![part]).map((name) => ({
      alias: prefix + name,
      name,
      type: typeOf(table, name),
      values: members.map((member) => member[part][name]),
    }));
  return [...of('k_', 'key'), ...of('s_', 'set'), ...of('e_', 'expect')];
}

const known = new Map<string, Pick<GroupStatement, 'name' | 'text'>>();
/** Every connection keeps what was prepared on it for as long as it lives, so the rare combinations behind these are not. */
const knownMax = 500;

/** Prepared under a name, by the shapes that come together. */
function textOf(batches: readonly Batch[]): Pick<GroupStatement, 'name' | 'text'> {
  const shapes = batches.map(({ shape }) => shape).join('\n');
  const found = known.get(shapes);
  if (found) return found;
  const text = groupText(batches);
  if (known.size === knownMax) return { text };
  const statement = { name: `changes-${known.size + 1}`, text };
  known.set(shapes, statement);
  return statement;
}

/** Parameters: the columns of each batch, then how many rows it has. */
function groupText(batches: readonly Batch[]): string {
  let position = 0;
  const next = () => {
    position += 1;
    return position;
  };
  const parts: string[] = [];
  const holds: string[] = [];
  for (const [i, batch] of batches.entries()) {
    parts.push(`c${i} as (${partText(batch, next)})`);
    holds.push(`(select count(*) from c${i}) = $${next()}::bigint`);
  }
  return `with ${parts.join(',\n')}\nselect 1 / case when ${holds.join(' and ')} then 1 else 0 end`;
}

/** What is found by less than its key could be several rows, and rows are counted by the batch. */
function requireWholeKey({ change: { table, op }, members }: Batch): void {
  const missing = op === 'insert' ? undefined : table.key.find((column) => !(column in members[0]!.key));
  if (missing) throw new Error(`${op} on ${table.name} does not name ${missing}`);
}

function partText(batch: Batch, next: () => number): string {
  const { table, op } = batch.change;
  const columns = columnsOf(batch);
  requireWholeKey(batch);
  const from = `unnest(${columns.map(({ type }) => parameterText(type, next())).join(', ')}) as x(${columns.map(({ alias }) => alias).join(', ')})`;
  const value = ({ type, alias }: Column) => valueText(type, `x.${alias}`);
  const of = (prefix: string) => columns.filter(({ alias }) => alias.startsWith(prefix));
  const where = [
    ...of('k_').map((column) => `t.${column.name} = ${value(column)}`),
    ...of('e_').map((column) => `t.${column.name} is not distinct from ${value(column)}`),
  ].join(' and ');
  const sets = of('s_');
  const texts = {
    insert: () =>
      `insert into ${table.name} (${sets.map(({ name }) => name).join(', ')}) select ${sets.map(value).join(', ')} from ${from} returning 1`,
    update: () =>
      `update ${table.name} t set ${sets.map((column) => `${column.name} = ${value(column)}`).join(', ')} from ${from} where ${where} returning 1`,
    remove: () => `delete from ${table.name} t using ${from} where ${where} returning 1`,
    guard: () => `select 1 from ${table.name} t, ${from} where ${where} for share of t`,
  };
  return texts[op]();
}

function typeOf(table: Table, column: string): ColumnType {
  const type = table.columns[column];
  if (!type) throw new Error(`${table.name} has no column ${column}`);
  return type;
}
