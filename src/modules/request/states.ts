/** The states of a request and the moves between them (service-api.md 3, wire.md b.6). Whatever the table does not name is refused. */

export const statuses = ['pending', 'approved', 'completed', 'denied', 'canceled', 'failed', 'in_progress'] as const;
export type Status = (typeof statuses)[number];

export const moves = ['approve', 'deny', 'cancel', 'issue', 'fail'] as const;
export type Move = (typeof moves)[number];

const table: Partial<Record<Status, Partial<Record<Move, Status>>>> = {
  pending: { approve: 'approved', deny: 'denied', cancel: 'canceled' },
  approved: { issue: 'completed', fail: 'failed' },
};

/** Where a move leads, or undefined when it is refused. */
export const after = (status: Status, move: Move): Status | undefined => table[status]?.[move];
