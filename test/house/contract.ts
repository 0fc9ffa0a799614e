/** The specification as the house tests read it, from the copies in test/contract. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './sources.ts';

const file = (name: string): string => readFileSync(join(root, 'test/contract', name), 'utf8');
const rows = (name: string): readonly (readonly string[])[] =>
  file(name)
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'));

/** The path of an operation as the specification spells it, whatever its parameters take. */
export const spelt = (path: string): string => path.replace(/(?<=.)\/$/, '').replaceAll('*', ':');

export interface Route {
  /** `GET /api/v1/certificate/labels` */
  readonly address: string;
  readonly capabilities: readonly string[];
}
export const contractRoutes = (): readonly Route[] =>
  rows('routes.tsv').map(([method, path, capabilities]) => ({
    address: `${method} ${spelt(path!)}`,
    capabilities: capabilities!.split(' '),
  }));

export interface ContractError {
  readonly statuses: readonly number[];
  readonly message: string;
  readonly title: string;
  /** Operation ids with dots. */
  readonly operations: readonly string[];
}
export const contractErrors = (): ReadonlyMap<string, ContractError> =>
  new Map(
    rows('errors.tsv').map(([code, statuses, message, title, operations]) => [
      code!,
      { statuses: statuses!.split(',').map(Number), message: message!, title: title!, operations: dotted(operations ?? '').split(',') },
    ]),
  );

const dotted = (text: string): string => text.replaceAll('_', '.');

/** The contract's operation ids, with dots, of each method and path, whatever its parameters are called. */
export function contractIds(): ReadonlyMap<string, readonly string[]> {
  const { paths } = JSON.parse(file('contract.openapi.json')) as { paths: Record<string, Record<string, { operationId: string }>> };
  const ids = new Map<string, readonly string[]>();
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { operationId }] of Object.entries(item)) {
      const address = shapeOf(method, path);
      ids.set(address, [...(ids.get(address) ?? []), dotted(operationId)]);
    }
  }
  return ids;
}
export const shapeOf = (method: string, path: string): string => `${method.toUpperCase()} ${path.replace(/\{\w+\}|:\w+/g, '{}')}`;
