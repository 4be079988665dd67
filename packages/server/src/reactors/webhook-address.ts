import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { fail, type ServiceError } from '../errors.ts';

/**
 * Which addresses a webhook may reach. Users choose the address and the service makes the call, so without this rule
 * they could talk to whatever the machine reaches and they do not: its own services, the cloud's metadata, the network
 * behind it.
 */

const closed = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  closed.addSubnet(network, bits, 'ipv4');

/** Of IPv6 only what is given out to the world is open, and of that not what carries an IPv4 address inside. */
const open6 = new BlockList();
open6.addSubnet('2000::', 3, 'ipv6');
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  closed.addSubnet(network, bits, 'ipv6');

/** `allowed`: the operator's exceptions, addresses or networks in CIDR notation. */
export function mayReach(address: string, allowed: readonly string[]): boolean {
  const plain = withoutMapping(address);
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(plain) === 0) return false;
  if (listOf(allowed).check(plain, family)) return true;
  if (closed.check(plain, family) || isOwn(plain)) return false;
  return family === 'ipv4' || open6.check(plain, 'ipv6');
}

/** The address, checked as far as that is possible before anything is connected. */
export function readWebhook(
  given: string,
  { webhook_allow: allowed }: { readonly webhook_allow: readonly string[] },
): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw invalid('takes an http or https address, such as https://example.org/hook');
  if (url.username !== '' || url.password !== '')
    throw invalid('takes an address without a username and password; the calls are signed instead');
  const literal = literalOf(url);
  const isLocal = /(^|\.)localhost\.?$/i.test(url.hostname);
  if ((literal !== undefined && !mayReach(literal, allowed)) || (isLocal && allowed.length === 0))
    throw invalid(
      `${url.hostname} is an address of this machine or of a private network, which the operator does not allow`,
    );
  return url.href;
}

/** The IP address that stands in a URL; undefined where a name does. */
export function literalOf(url: URL): string | undefined {
  const bare = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? undefined : bare;
}

const lists = new WeakMap<readonly string[], BlockList>();

function listOf(allowed: readonly string[]): BlockList {
  let list = lists.get(allowed);
  if (list !== undefined) return list;
  list = new BlockList();
  for (const entry of allowed) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  lists.set(allowed, list);
  return list;
}

/** ::ffff:127.0.0.1 is 127.0.0.1, however it is written. */
function withoutMapping(address: string): string {
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) !== 6) return plain;
  const short = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short);
  if (mapped === null) return short;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Addresses come and go while the service runs. */
function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => withoutMapping(entry.address) === address),
  );
}

const invalid = (problem: string): ServiceError =>
  fail('invalid_field', { field: 'webhook', problem });
