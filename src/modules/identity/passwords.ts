/** Passwords and API keys: argon2id with the parameters of OWASP's first choice (19 MiB, two passes, one lane). */
import { hash, verify } from '@node-rs/argon2';
import { z } from 'zod';
import type { Sources } from '../../kernel/context.ts';

export const password = z.string().min(1).max(1000);

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** In PHC string format. Takes some 10 ms of a core, not of the event loop. */
export const hashPassword = (secret: string, { random }: Pick<Sources, 'random'>): Promise<string> =>
  hash(secret, { ...cost, salt: random(16) });

/** Verified where there is no hash, so that it takes as long to refuse an unknown account as a wrong secret. Nothing matches it. */
const noHash = '$argon2id$v=19$m=19456,t=2,p=1$BwcHBwcHBwcHBwcHBwcHBw$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

export async function verifyPassword(stored: string | undefined, secret: string): Promise<boolean> {
  const matches = await verify(stored ?? noHash, secret);
  return matches && stored !== undefined;
}
