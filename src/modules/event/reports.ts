/** Reports of integrity checks as they are stored: a report that is `running` is the request for its check. Sealed, so that none is written by hand. */
import { type Change, insert, update } from '../../kernel/change.ts';
import type { Reader } from '../../kernel/context.ts';
import { integrityReportTable } from './events.store.ts';
import type { Seals } from './seals.ts';
import type { Verdict } from './verify.ts';

export const reportStatuses = ['running', 'verified', 'eventIntegrityFailure', 'reportIntegrityFailure', 'unexpectedFailure'] as const;
export type ReportStatus = (typeof reportStatuses)[number];

interface Statement extends Verdict {
  readonly startedAt: number;
  readonly endedAt?: number;
}
export interface Report extends Statement {
  readonly id: string;
  readonly status: ReportStatus;
}
export interface StoredReport {
  readonly id: string;
  readonly status: string;
  /** A statement, unless somebody was at it by hand. */
  readonly body: Partial<Statement> | null;
  readonly seal: string;
  readonly lease_until: number;
}

const listMax = 1_000;

const columns = 'id, status, body, seal, lease_until';

/** The newest first. */
export async function readReports(database: Reader): Promise<readonly StoredReport[]> {
  const text = `select ${columns} from integrity_report order by id desc limit ${listMax}`;
  const rows = await database.rows<StoredReport>({ name: 'integrity-report-list', text });
  const startOf = ({ body }: StoredReport) => body?.startedAt ?? 0;
  return rows.sort((a, b) => startOf(b) - startOf(a));
}

/** Those that ask for a check which is not done. */
export async function readRunning(
  database: Reader,
  seals: Seals,
): Promise<readonly { readonly report: Report; readonly leaseUntil: number }[]> {
  const text = `select ${columns} from integrity_report where status = 'running' order by id limit ${listMax}`;
  const rows = await database.rows<StoredReport>({ name: 'integrity-report-running', text });
  return rows.flatMap((stored) => {
    const report = sealedReport(stored, seals);
    return report ? [{ report, leaseUntil: stored.lease_until }] : [];
  });
}

/** What the stored report says if it is as it was sealed. */
export function sealedReport({ id, status, body, seal }: StoredReport, seals: Seals): Report | undefined {
  return sealOf(id, status, body, seals) === seal ? { id, status: status as ReportStatus, ...(body as Statement) } : undefined;
}

const sealOf = (id: string, status: string, body: StoredReport['body'], seals: Seals): string =>
  seals.report([
    id,
    status,
    ...Object.entries(body ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flat(),
  ]);

const rowOf = (report: Report, seals: Seals) => {
  const { id, status, ...body } = report;
  return { id, status, body, seal: sealOf(id, status, body, seals) };
};
export const openReport = (report: Report, seals: Seals): Change =>
  insert(integrityReportTable, { ...rowOf(report, seals), lease_until: 0 });
export const closeReport = (report: Report, seals: Seals): Change => {
  const { id, ...set } = rowOf(report, seals);
  return update(integrityReportTable, { id }, set, { status: 'running' });
};
/** Takes or keeps a check for one process. */
export const leaseReport = (id: string, held: number, until: number): Change =>
  update(integrityReportTable, { id }, { lease_until: until }, { status: 'running', lease_until: held });
