/** Connections to PostgreSQL. The only place that knows the driver's settings. */
import pg from 'pg';
import type { Reader, Statement } from '../kernel/context.ts';
import { outageCode } from '../kernel/errors.ts';

export interface Database extends Reader {
  /** For the committer: statements that write. */
  readonly writers: pg.Pool;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections for reading; the committer has its own. */
  readonly poolSize: number;
  readonly lanes: number;
  /** Told of connections that break while idle. */
  onError?(error: Error): void;
}

const bigint = 20;

/** 64-bit integers are numbers here: times in milliseconds, revisions and positions stay far below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === bigint ? Number : pg.types.getTypeParser(oid, format ?? 'text')) as typeof pg.types.getTypeParser,
};

export function openDatabase({ url, poolSize, lanes, onError }: DatabaseOptions): Database {
  const pool = (max: number, statementTimeoutMs: number) => {
    const made = new pg.Pool({
      connectionString: url,
      max,
      types,
      connectionTimeoutMillis: 5_000,
      statement_timeout: statementTimeoutMs,
      // The server gives up by itself; a server that no longer answers is given up here.
      query_timeout: statementTimeoutMs + 10_000,
      idle_in_transaction_session_timeout: 30_000,
      application_name: 'perennial',
      keepAlive: true,
    });
    made.on('error', (error) => onError?.(error));
    return made;
  };
  const readers = pool(poolSize, 30_000);
  const writers = pool(lanes, 30_000);
  return {
    writers,
    async rows<R>({ name, text, values }: Statement): Promise<R[]> {
      const result = await readers
        .query({ ...(name ? { name } : {}), text, values: [...(values ?? [])] })
        .catch((error: unknown) => Promise.reject(unavailable(error)));
      return result.rows as R[];
    },
    async close() {
      await Promise.all([readers.end(), writers.end()]);
    },
  };
}

/** The database cannot be reached, went away or does not come to an end: an outage, not a bug. */
class DatabaseUnavailable extends Error {
  readonly code = outageCode;
}

const outages = /^(08...|57014|57P0[123]|53300|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|NOENT|HOSTUNREACH|AI_AGAIN))$/;

/** The error itself, or `DatabaseUnavailable` when it tells of an outage. */
export function unavailable(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string };
  const outage =
    outages.test(code ?? '') ||
    (code === undefined && /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout)/.test(message ?? ''));
  return outage ? new DatabaseUnavailable('the database is not available', { cause: error }) : error;
}
