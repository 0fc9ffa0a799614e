/** What names a principal: a login, an address, a distinguished name. Compared as it is, case included. */
import { z } from 'zod';

/** Bounded by what an index entry of the database holds. */
export const identifierLengthMax = 500;

export const identifier = z
  .string()
  .max(identifierLengthMax)
  .regex(/^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u, 'an identifier has no control characters and no space at its ends');
