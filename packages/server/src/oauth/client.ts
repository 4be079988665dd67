import type { Flow } from '../contract/caller.ts';
import type { Tier } from './tiers.ts';

/** The flows a client may use. An execution's token is made by the service itself, for no client's asking. */
export type ClientFlow = Exclude<Flow, 'execution'>;

export const clientFlows = [
  'authorization_code',
  'implicit',
  'password',
  'client_credentials',
  'device',
] as const satisfies readonly ClientFlow[];

/** A registered client application. Its secret is not part of it: only a hash is kept, and it never leaves the store. */
export interface Client {
  readonly id: string;
  readonly ownerId: string;
  readonly ownerUsername: string;
  /** Unique among the clients of its owner, with regard to case. */
  readonly name: string;
  readonly description: string;
  /** Exactly as registered: a redirect_uri is compared with them byte for byte. */
  readonly callbackUrls: readonly string[];
  /** The client_id of OAuth. */
  readonly key: string;
  readonly tier: Tier;
  readonly flows: ReadonlySet<ClientFlow>;
  readonly requirePkce: boolean;
  /** It has no secret, because its program is in everybody's hands: it names itself and proves nothing (RFC 6749 2.1). */
  readonly isPublic: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The client of the command line, the same on every service. Other keys are random, and of another length. */
export const commandLineKey = 'reactord-cli';

/**
 * Names stand in paths, so they hold nothing that a path, a shell or a log would read otherwise: letters, digits, dots,
 * underscores, hyphens and inner spaces. Not `.` and `..`, which addresses lose on their way.
 */
export const clientNamePattern = /^[A-Za-z0-9_](?:[A-Za-z0-9._ -]{0,62}[A-Za-z0-9._-])?$/;

export const clientNameRule =
  '1 to 64 letters, digits, dots, underscores, hyphens or spaces, with a letter, a digit or an underscore first and no space last';
