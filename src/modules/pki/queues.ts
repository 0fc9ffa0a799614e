/** PKI queues: how many orders may wait at once for the connectors that share one. */
import { z } from 'zod';
import { defineCollection } from '../../kernel/collection.ts';
import { collectionErrors } from '../../kernel/errors.ts';
import { sections } from '../../kernel/permission.ts';
import { duration, names, text } from '../../kernel/schema.ts';

const queue = z
  .object({
    name: names.dotted,
    description: text.optional(),
    throttleDuration: duration.optional(),
    throttleParallelism: z.int().min(1).optional(),
    clusterWide: z.boolean(),
    size: z.int().min(1).max(100_000),
  })
  .meta({ id: 'PKIQueue' });

export type Queue = Readonly<z.infer<typeof queue>>;

const errors = collectionErrors('PKI-QUEUE', 'PKI Queue', { referenced: 400 });

export const queues = defineCollection<Queue>({
  tag: 'pki.queue',
  id: 'pkiqueue',
  path: '/api/v1/pki/queues',
  schema: queue,
  errors,
  section: sections.queue,
  // A throttle of one half says nothing; both halves are not built, so each is refused by its own name.
  notYet: ['throttleDuration', 'throttleParallelism', 'clusterWide'],
});

/** An order that found its queue full. Nothing was done for it. */
export class QueueFull extends Error {
  constructor(name: string, size: number) {
    super(`the PKI queue '${name}' is full: ${size} orders are under way`);
    this.name = 'QueueFull';
  }
}

/** How long a prepared order keeps its place while its intent is committed; it never comes back when that fails. */
const preparedMs = 60_000;

/** The places of one queue. */
export interface Places {
  /** Keeps the order's place when `work` succeeds: its next step follows soon. Throws `QueueFull` before it does anything. */
  first<T>(order: string, work: () => Promise<T>): Promise<T>;
  /** Gives the order's place back whatever becomes of `work`. Throws `QueueFull` before it does anything. */
  last<T>(order: string, work: () => Promise<T>): Promise<T>;
}

const unbounded: Places = { first: (_order, work) => work(), last: (_order, work) => work() };

/** The places of all queues in this process; without a queue there is always one. An order, named by its id, has one place however often it comes. */
export function createPlaces(now: () => number): (queue: Pick<Queue, 'name' | 'size'> | undefined) => Places {
  const takenByQueue = new Map<string, Map<string, number>>();

  return (queue) => {
    if (!queue) return unbounded;
    const { name, size } = queue;
    const taken = takenByQueue.get(name) ?? new Map<string, number>();
    takenByQueue.set(name, taken);

    const take = (order: string): void => {
      if (taken.size >= size && !taken.has(order)) for (const [other, until] of taken) if (until <= now()) taken.delete(other);
      if (taken.size >= size && !taken.has(order)) throw new QueueFull(name, size);
      taken.set(order, Number.POSITIVE_INFINITY);
    };
    return {
      async first(order, work) {
        take(order);
        try {
          const result = await work();
          taken.set(order, now() + preparedMs);
          return result;
        } catch (error) {
          taken.delete(order);
          throw error;
        }
      },
      async last(order, work) {
        take(order);
        try {
          return await work();
        } finally {
          taken.delete(order);
        }
      },
    };
  };
}
