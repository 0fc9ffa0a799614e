/** What Prometheus is told of the process and of its requests. */
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  /** `operation` is an operation's id, never a caller's words. */
  observe(operation: string, status: number, seconds: number): void;
}

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ version });
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'perennial_request_seconds',
    help: 'Time to answer a request, by operation and status.',
    labelNames: ['operation', 'status'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return { registry, observe: (operation, status, seconds) => requests.observe({ operation, status }, seconds) };
}
