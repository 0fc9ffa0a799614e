/** Who is calling, by identifier and secret. A secret that was verified is believed for a session's life, as long as the account is the same:
 *  a call with an API key then costs one HMAC. Everything remembered here is this process's own. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Stored } from '../../kernel/configuration.ts';
import type { Context } from '../../kernel/context.ts';
import { authErrors, routeErrors, type ServiceError } from '../../kernel/errors.ts';
import type { EventStatus } from '../../kernel/event.ts';
import type { Performer } from '../../kernel/perform.ts';
import { type Credentials, nobody, type Principal } from '../../kernel/principal.ts';
import { administrators } from './administrators.ts';
import { type IdentityProvider, type LocalIdentity, localTag } from './documents.ts';
import { createGate } from './gate.ts';
import { identifierLengthMax } from './identifier.ts';
import { verifyPassword } from './passwords.ts';
import { localPrincipal } from './principals.ts';
import { findLocalProvider } from './providers.ts';
import { createRecent } from './recent.ts';
import { createThrottle, type Origin } from './throttle.ts';

/** Throws `SEC-AUTH-002`, `SEC-AUTH-007` or `ROUTE-005`; without credentials the caller is `nobody`. */
export type Authenticate = (credentials: Credentials, context: Context) => Promise<Principal>;

export interface AuthenticatorOptions {
  readonly note: Performer['note'];
  /** How long a verified secret is believed; default 15 minutes. */
  readonly sessionMs?: number;
  /** Slows down the answer to a failure. */
  readonly delay?: (ms: number) => Promise<unknown>;
}

/** The secret that was last proved for an account; another document of the same name is another account. */
interface Proved {
  readonly id: string;
  readonly revision: number;
  readonly mac: Buffer;
  readonly until: number;
}

interface Claim {
  readonly identifier: string;
  readonly secret: string;
  readonly mac: Buffer;
  readonly identity: Stored<LocalIdentity> | undefined;
  readonly provider: IdentityProvider;
  /** When it came, before anything was looked up: a failure is answered a certain time after that, whatever it met. */
  readonly began: number;
}

interface Verdict {
  readonly genuine: boolean;
  readonly delayMs: number;
}

const provedMax = 10_000;

export function createAuthenticator({ note, sessionMs = 15 * 60_000, delay = (ms) => setTimeout(ms) }: AuthenticatorOptions): Authenticate {
  const proved = createRecent<Proved>(provedMax);
  const underWay = new Map<string, Promise<Verdict>>();
  const throttle = createThrottle();
  const gate = createGate({ atOnceMax: 2, waitingMax: 100 });
  let macKey: Uint8Array | undefined;

  const macOf = (secret: string, { random }: Context): Buffer => {
    macKey ??= random(32);
    return createHmac('sha256', macKey).update(secret).digest();
  };

  /** What was proved, however long ago, if it was this secret of this very account. */
  const provedBefore = ({ identifier, identity, mac }: Claim): Proved | undefined => {
    const found = proved.get(identifier);
    const isSame = found?.id === identity?.id && found?.revision === identity?.revision;
    return found && isSame && timingSafeEqual(found.mac, mac) ? found : undefined;
  };

  async function authenticate({ apiId, apiKey, provider: name }: Credentials, context: Context): Promise<Principal> {
    if (apiId === undefined && apiKey === undefined) return nobody;
    const began = context.now();
    const identifier = (apiId ?? '').slice(0, identifierLengthMax + 1);
    const refuse = (error: ServiceError) => recorded(error, { identifier, provider: name }, context);
    const provider = await findLocalProvider(context.configuration, name);
    if (!provider)
      throw await refuse(
        name === undefined ? authErrors.credentials('no provider of local identities is enabled') : authErrors.provider(name),
      );
    if (!apiId || !apiKey) throw await refuse(authErrors.credentials('X-API-ID and X-API-KEY belong together'));
    const identity = await context.configuration.get<LocalIdentity>(localTag, identifier);
    return login({ identifier, secret: apiKey, mac: macOf(apiKey, context), identity, provider, began }, context);
  }

  async function login(claim: Claim, context: Context): Promise<Principal> {
    const { identifier, identity, provider, began } = claim;
    const before = provedBefore(claim);
    const isFresh = before !== undefined && began < before.until;
    const verdict = isFresh ? { genuine: true, delayMs: 0 } : await verdictOn(claim, before !== undefined, context);
    const principal = verdict.genuine && identity ? await localPrincipal(identity.body, provider, context.configuration) : undefined;
    if (!principal) {
      const refusal = await recorded(authErrors.credentials(), { identifier, provider: provider.name }, context);
      await delay(Math.max(verdict.delayMs - (context.now() - began), 0));
      throw refusal;
    }
    if (!isFresh) await remember(claim, identity!, context);
    return principal;
  }

  /** Callers that show the same at the same time wait for one verification, which counts as one attempt. */
  function verdictOn(claim: Claim, wasProved: boolean, context: Context): Promise<Verdict> {
    const { identifier, identity, mac } = claim;
    const key = `${identity?.id} ${identity?.revision} ${mac.toString('base64')} ${identifier}`;
    const found = underWay.get(key);
    if (found) return found;
    const started = verify(claim, wasProved, context).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  }

  async function verify({ identifier, identity, secret, provider }: Claim, wasProved: boolean, context: Context): Promise<Verdict> {
    const origin: Origin = { account: identifier, ip: context.caller.ip };
    const { refused, delayMs } = throttle.begin(origin, context.now());
    // A secret that was right before is no guess, and administrators are slowed down but never locked out.
    if (refused && !wasProved && !(await administrators(context.configuration)).has(identifier)) {
      throw await recorded(routeErrors.tooMany('too many failed logins'), { identifier, provider: provider.name }, context);
    }
    const genuine = await gate(() => verifyPassword(identity?.body.hash, secret)).catch((error: unknown) => {
      throttle.withdrawn(origin);
      throw error;
    });
    if (genuine) throttle.succeeded(origin);
    return { genuine, delayMs };
  }

  /** The first who comes with a proved secret records the login for its session's life. */
  async function remember(claim: Claim, { id, revision }: Stored<LocalIdentity>, context: Context): Promise<void> {
    const { identifier, mac, provider } = claim;
    const now = context.now();
    const before = provedBefore(claim);
    if (before && now < before.until) return;
    proved.set(identifier, { id, revision, mac, until: now + sessionMs });
    await note(event('success', { identifier, provider: provider.name }), context).catch((error: unknown) => {
      // A login that cannot be recorded is none.
      proved.delete(identifier);
      throw error;
    });
  }

  /** The refusal itself, once it is in the trail. That a record is missing reaches the log and changes nothing for the caller. */
  async function recorded(refusal: ServiceError, who: Who, context: Context): Promise<ServiceError> {
    const failure = event('failure', who, refusal.message);
    await note(failure, context).catch((error: unknown) => context.log.error({ err: error }, 'a failed login could not be recorded'));
    return refusal;
  }

  return authenticate;
}

interface Who {
  readonly identifier: string;
  readonly provider?: string | undefined;
}

const event = (status: EventStatus, { identifier, provider }: Who, message?: string) =>
  ({ code: 'SEC-AUTHENTICATION', module: 'security', status, details: { actorId: identifier, idpName: provider, message } }) as const;
