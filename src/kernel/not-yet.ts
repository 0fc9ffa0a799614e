/** Schemas are accepted whole; who asks for a part that is not built is told so by its name, and nothing is stored and silently not done. */
import type { Thrower } from './errors.ts';

/** Throws for the first of the dotted paths that holds a request: anything but absence, false, an empty string, list or object. */
export function refuseParts(draft: unknown, paths: readonly string[], error: Thrower): void {
  for (const path of paths) {
    const value = path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], draft);
    if (asks(value)) throw error(`'${path}' is not available yet`);
  }
}

const asks = (value: unknown): boolean => {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.values(value).some(asks);
};
