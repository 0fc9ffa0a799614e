/** What an action asks to be written: rows as data. Nothing here knows SQL; `storage/commit.ts` applies it. */

export type ColumnType = 'text' | 'bigint' | 'boolean' | 'jsonb' | 'bytea' | 'text[]';

type ValueOf<T extends ColumnType> = T extends 'bigint'
  ? number
  : T extends 'boolean'
    ? boolean
    : T extends 'bytea'
      ? Uint8Array
      : T extends 'text[]'
        ? readonly string[]
        : T extends 'jsonb'
          ? unknown
          : string;

export type Columns = Readonly<Record<string, ColumnType>>;
export type RowOf<C extends Columns> = { readonly [K in keyof C]: ValueOf<C[K]> | null };

/** `key` finds one row at most; whatever is not inserted is found by the whole of it. */
export interface Table<C extends Columns = Columns> {
  readonly name: string;
  readonly columns: C;
  readonly key: readonly (keyof C & string)[];
}
export const defineTable = <const C extends Columns>(name: string, columns: C, key: readonly (keyof C & string)[]): Table<C> => ({
  name,
  columns,
  key,
});

export type Values = Readonly<Record<string, unknown>>;

/** `expect` names what must still be true of the row: each of its columns holds just this value, null included. */
export type Change =
  | { readonly op: 'insert'; readonly table: Table; readonly row: Values }
  | { readonly op: 'update'; readonly table: Table; readonly key: Values; readonly set: Values; readonly expect: Values }
  | { readonly op: 'remove'; readonly table: Table; readonly key: Values; readonly expect: Values }
  | { readonly op: 'guard'; readonly table: Table; readonly key: Values; readonly expect: Values };

type Part<C extends Columns> = Partial<RowOf<C>>;

export const insert = <C extends Columns>(table: Table<C>, row: Part<C>): Change => ({ op: 'insert', table: plain(table), row });
export const update = <C extends Columns>(table: Table<C>, key: Part<C>, set: Part<C>, expect: Part<C> = {}): Change => ({
  op: 'update',
  table: plain(table),
  key,
  set,
  expect,
});
export const remove = <C extends Columns>(table: Table<C>, key: Part<C>, expect: Part<C> = {}): Change => ({
  op: 'remove',
  table: plain(table),
  key,
  expect,
});
/** Writes nothing; fails the action unless the row is there and as expected, and keeps it so until the commit. */
export const guard = <C extends Columns>(table: Table<C>, key: Part<C>, expect: Part<C> = {}): Change => ({
  op: 'guard',
  table: plain(table),
  key,
  expect,
});
const plain = <C extends Columns>(table: Table<C>): Table => table as unknown as Table;

/** A commit that lost: a condition no longer held, a key was taken, a reference is missing or still used. Nothing was written. */
export class Conflict extends Error {
  readonly reason: 'condition' | 'duplicate' | 'reference';
  readonly change: Change | undefined;
  constructor(reason: 'condition' | 'duplicate' | 'reference', change?: Change) {
    super(`${change ? `${change.op} on ${change.table.name}` : 'a change'} lost: ${reason}`);
    this.reason = reason;
    this.change = change;
  }
}

/** Applies all changes or none; resolves when they are durable. Throws `Conflict`. */
export type Commit = (changes: readonly Change[]) => Promise<void>;
