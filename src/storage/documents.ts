/** Configuration documents, remembered between requests. Every action starts with a check that nothing was written since, so what it reads
 *  is never older than its own beginning, in any number of processes. */
import type { Configuration, Stored } from '../kernel/configuration.ts';
import type { Reader } from '../kernel/context.ts';

interface Row {
  readonly key: string;
  readonly id: string;
  readonly revision: number;
  readonly body: unknown;
}
const stored = <D>({ id, revision, body }: Row): Stored<D> => ({ id, revision, body: body as D });

export interface Documents {
  /** The configuration as of now. */
  current(): Promise<Configuration>;
}

export function createDocuments(reader: Reader): Documents {
  let known: { readonly revision: number; readonly configuration: Configuration } | undefined;

  async function check(): Promise<Configuration> {
    const [head] = await reader.rows<{ revision: number }>({ name: 'document-head', text: 'select revision from document_head' });
    const revision = head!.revision;
    if (known?.revision !== revision) known = { revision, configuration: remembering(reader) };
    return known.configuration;
  }

  return { current: shared(check) };
}

/** Many callers, one check: whoever asks while one is under way shares the next, which starts after they asked. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;
  const start = (): Promise<T> => {
    next = undefined;
    const result = work();
    running = result
      .catch(() => {})
      .finally(() => {
        running = undefined;
      });
    return result;
  };
  return () => {
    if (!running) return start();
    next ??= running.then(start);
    return next;
  };
}

/** Reads each document and list once; forgets nothing, since it lives for one revision only. */
function remembering(reader: Reader): Configuration {
  const memory = new Map<string, Promise<unknown>>();
  const once = <T>(name: string, make: () => Promise<T>): Promise<T> => {
    const found = memory.get(name) as Promise<T> | undefined;
    if (found) return found;
    const made = make();
    memory.set(name, made);
    // What is not there is not remembered: names that callers make up must not fill the memory.
    made.then(
      (value) => value === undefined && memory.delete(name),
      () => memory.delete(name),
    );
    return made;
  };
  return {
    get: <D>(collection: string, key: string) =>
      once(`get ${collection} ${key}`, async () => {
        const text = 'select key, id, revision, body from document where collection = $1 and key = $2';
        const [row] = await reader.rows<Row>({ name: 'document-get', text, values: [collection, key] });
        return row && stored<D>(row);
      }),
    list: <D>(collection: string) =>
      once(`list ${collection}`, async () => {
        const text = 'select key, id, revision, body from document where collection = $1 order by key';
        return (await reader.rows<Row>({ name: 'document-list', text, values: [collection] })).map((row) => stored<D>(row));
      }),
    async referrers(collection, key) {
      const text =
        'select collection, key from reference where to_collection = $1 and to_key = $2 and not (collection = $1 and key = $2) order by 1, 2 limit 100';
      const rows = await reader.rows<{ collection: string; key: string }>({ name: 'document-referrers', text, values: [collection, key] });
      return rows.map((row) => `${row.collection}/${row.key}`);
    },
    memo: (name, make) => once(`memo ${name}`, make),
  };
}
