import type { PermissionLevel } from '../contract/permission-level.ts';
import type { OwnQuotas } from '../identity/quotas.ts';

/** A container image that is executed for each message posted to its inbox, and how its executions are to run. */
export interface Reactor extends ReactorSettings {
  readonly id: string;
  readonly ownerId: string;
  readonly ownerUsername: string;
  /** What an admin allows its owner; for the rest the operator's defaults hold, except for admins. */
  readonly ownerQuotas: OwnQuotas;
  readonly ownerIsAdmin: boolean;
  readonly name: string | null;
  /** The registry's digest of the content that was last pulled, `sha256:…`; null where it came from no registry. */
  readonly imageDigest: string | null;
  /** The content's own id on the engine: what executions run, so that a tag that moves does not change them. */
  readonly imageId: string | null;
  readonly status: ReactorStatus;
  readonly statusMessage: string;
  /** Raised each time the image is asked for anew. */
  readonly revision: number;
  /** How many configs its containers get. */
  readonly configs: number;
  /** By user id: what those may do whom the owner gave something. */
  readonly permissions: ReadonlyMap<string, Permission>;
  /** What everyone may do who gets into the area. */
  readonly worldLevel: PermissionLevel | undefined;
  /** Which of its signing keys is in use, and since when, where it is not the first. */
  readonly webhookKey: number;
  readonly webhookRotatedAt: number | null;
  /** From when an interval of the schedule counts. */
  readonly cronStartAt: number | null;
  /** When its schedule comes next; null: never. */
  readonly cronNextAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface Permission {
  readonly username: string;
  readonly level: PermissionLevel;
}

/** What a registration says and a PUT replaces. */
export interface ReactorSettings {
  readonly description: string;
  /** The reference as the owner wrote it. */
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly stateless: boolean;
  readonly maxWorkers: number;
  /** Null: the operator's default. */
  readonly memoryBytes: number | null;
  /** In cores; null: the operator's default. */
  readonly cpus: number | null;
  readonly timeoutSeconds: number;
  readonly logSeconds: number;
  /** How often a failed execution is tried again. */
  readonly retries: number;
  /** Whether an access token is made for each execution. */
  readonly token: boolean;
  readonly hints: readonly string[];
  readonly privileged: boolean;
  /** The name of a secret of the owner with which the image is pulled. */
  readonly registryCredentials: string | null;
  /** The id or alias of the reactor that its events go to. */
  readonly link: string | null;
  /** The address that its events go to. */
  readonly webhook: string | null;
  /** As the owner wrote it. */
  readonly cronSchedule: string | null;
  /** False keeps the schedule and fires nothing. */
  readonly cronOn: boolean;
  /** It is deleted when nobody has used it for a while. */
  readonly removeWhenIdle: boolean;
  readonly legacy: LegacyFields;
}

/** What clients of the ancestors send: kept and shown, without effect. */
export interface LegacyFields {
  readonly type: string;
  readonly queue: string;
  readonly useContainerUid: boolean;
}

export const reactorStatuses = ['SUBMITTED', 'READY', 'ERROR', 'SHUTTING_DOWN'] as const;

/** SUBMITTED: the image is being pulled. ERROR: it cannot be had; messages wait until a PUT mends the reactor. */
type ReactorStatus = (typeof reactorStatuses)[number];

/** Short, and made of letters and digits that can be copied by hand; other texts name no reactor. */
export const reactorIdPattern = /^[0-9A-Za-z]{1,32}$/;
