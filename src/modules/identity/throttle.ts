/** Failed logins, counted by account and by address in this process's memory: each makes the next answer slower, many end in a refusal. */
import { createRecent, type Recent } from './recent.ts';

export interface Origin {
  /** The identifier that was sent, whether it exists or not. */
  readonly account: string;
  readonly ip?: string | undefined;
}

export interface Attempt {
  /** Too many failures lie behind it; it was not counted. */
  readonly refused: boolean;
  /** How long a failure takes to be answered. */
  readonly delayMs: number;
}

export interface Throttle {
  /** Counts the attempt as a failure, so that a thousand at once do not all pass as the first. */
  begin(origin: Origin, now: number): Attempt;
  /** It was none: the account starts anew, the address gets its attempt back. */
  succeeded(origin: Origin): void;
  /** It came to no verdict. */
  withdrawn(origin: Origin): void;
}

const entriesMax = 10_000;
const forgottenAfterMs = 15 * 60_000;
const failuresMax = { account: 10, address: 100 } as const;
const [firstDelayMs, delayMsMax] = [100, 5_000];

interface Failures {
  readonly count: number;
  readonly at: number;
}

export function createThrottle(): Throttle {
  const accounts = createRecent<Failures>(entriesMax);
  const addresses = createRecent<Failures>(entriesMax);
  const countIn = (failures: Recent<Failures>, key: string, now: number) => {
    const found = failures.get(key);
    return found && now - found.at < forgottenAfterMs ? found.count : 0;
  };
  return {
    begin({ account, ip }, now) {
      const [byAccount, byAddress] = [countIn(accounts, account, now), ip === undefined ? 0 : countIn(addresses, networkOf(ip), now)];
      const refused = byAccount >= failuresMax.account || byAddress >= failuresMax.address;
      if (!refused) {
        accounts.set(account, { count: byAccount + 1, at: now });
        if (ip !== undefined) addresses.set(networkOf(ip), { count: byAddress + 1, at: now });
      }
      const steps = Math.max(byAccount, Math.floor((byAddress * failuresMax.account) / failuresMax.address));
      return { refused, delayMs: Math.min(firstDelayMs * 2 ** steps, delayMsMax) };
    },
    succeeded({ account, ip }) {
      accounts.delete(account);
      if (ip !== undefined) takeBack(addresses, networkOf(ip));
    },
    withdrawn({ account, ip }) {
      takeBack(accounts, account);
      if (ip !== undefined) takeBack(addresses, networkOf(ip));
    },
  };
}

function takeBack(failures: Recent<Failures>, key: string): void {
  const found = failures.get(key);
  if (found) failures.set(key, { ...found, count: Math.max(found.count - 1, 0) });
}

/** Whoever has one IPv6 address has the whole /64. */
export function networkOf(ip: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(ip);
  if (mapped) return mapped[1]!;
  if (!ip.includes(':')) return ip;
  const [head, tail] = ip.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = tail === undefined ? 0 : Math.max(8 - head!.length - tail.length, 0);
  const groups = [...head!, ...Array<string>(zeros).fill('0'), ...(tail ?? [])];
  return `${groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
