/**
 * Which capability groups a host name reaches. Pure: takes the Host header, not the request.
 * Invariant: a name is compared in one canonical form; whatever has none reaches nothing.
 */
import { isIPv6 } from 'node:net';
import { type Capability, capabilities } from '../kernel/action.ts';

export type Endpoint = { readonly host: string } & Readonly<Record<Capability, boolean>>;

export interface HostSettings {
  /** Further hosts that reach everything; ignored when `endpoints` is there. */
  readonly allowedHosts: readonly string[];
  readonly endpoints?: readonly Endpoint[] | undefined;
  /** The address that our own links are built on. Its host reaches everything, so that the links work; ignored like `allowedHosts`. */
  readonly publicUrl: string;
}

/** Values of the Host header as received, all of them (`headersDistinct.host`): more than one names no host. */
export type HostHeader = string | readonly string[] | undefined;

const everything: ReadonlySet<Capability> = new Set(capabilities);

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const dnsName = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`);

/** Canonical form (lower case, IPv6 compressed in brackets) of a host without port, or undefined. */
export const hostName = (text: string): string | undefined => {
  const name = text.toLowerCase();
  const address = /^\[(.*)\]$/s.exec(name)?.[1] ?? name;
  // A zone identifier means nothing to another machine, and URL refuses it.
  if (isIPv6(address)) return address.includes('%') ? undefined : new URL(`http://[${address}]`).hostname;
  return dnsName.test(name) ? name : undefined;
};

/** RFC 9110 §7.2: uri-host [":" port]. */
const hostOf = (header: HostHeader): string | undefined => {
  const [value, ...more] = typeof header === 'string' ? [header] : (header ?? []);
  const [, name, port] = /^(\[[^[\]]*\]|[^:[\]]*)(?::([0-9]{0,5}))?$/.exec(value ?? '') ?? [];
  return name === undefined || more.length > 0 || Number(port ?? 0) > 65_535 ? undefined : hostName(name);
};

/** Gives the capabilities of a Host header; undefined = a host that is not ours, to be answered as an unknown path. */
export const createHosts = (settings: HostSettings): ((header: HostHeader) => ReadonlySet<Capability> | undefined) => {
  const { allowedHosts, endpoints, publicUrl } = settings;
  const open = ['localhost', '127.0.0.1', '[::1]', new URL(publicUrl).hostname, ...allowedHosts];
  const granted: readonly (readonly [string, ReadonlySet<Capability>])[] = endpoints
    ? endpoints.map((endpoint) => [endpoint.host, new Set(capabilities.filter((capability) => endpoint[capability]))])
    : open.map((host) => [host, everything]);
  const byHost = new Map(granted.map(([host, reached]) => [hostName(host), reached]));
  byHost.delete(undefined);
  return (header) => byHost.get(hostOf(header));
};
