/** Configuration documents as an action sees them: one table of all collections, never older than the moment the action began. */
import { defineTable } from './change.ts';

export interface Stored<D> {
  /** `_id` on the wire. */
  readonly id: string;
  /** Counts the writes of this document; a write names the one it is based on. */
  readonly revision: number;
  readonly body: D;
}

export interface Configuration {
  get<D>(collection: string, key: string): Promise<Stored<D> | undefined>;
  /** All documents of a collection, by key. */
  list<D>(collection: string): Promise<readonly Stored<D>[]>;
  /** What refers to the document, as `collection/key`. */
  referrers(collection: string, key: string): Promise<readonly string[]>;
  /** A value made from documents, kept until any document changes. */
  memo<T>(name: string, make: () => Promise<T>): Promise<T>;
}

export interface Reference {
  readonly collection: string;
  readonly key: string;
}

export const documentTable = defineTable('document', { collection: 'text', key: 'text', id: 'text', revision: 'bigint', body: 'jsonb' }, [
  'collection',
  'key',
]);
/** Which document names which; foreign keys on both sides make the database refuse a dangling reference. */
export const referenceTable = defineTable('reference', { collection: 'text', key: 'text', to_collection: 'text', to_key: 'text' }, [
  'collection',
  'key',
  'to_collection',
  'to_key',
]);
