import { Type } from 'typebox';
import type { Config } from '../config.ts';
import { fail } from '../errors.ts';

/** How much of the service one user may take up. */
export const quotaNames = ['reactors', 'waitingMessages', 'containers', 'storedBytes'] as const;

type QuotaName = (typeof quotaNames)[number];

/** What an admin has set for a user; what is not named is the operator's default. */
export type OwnQuotas = Readonly<Partial<Record<QuotaName, number>>>;

const most = Number.MAX_SAFE_INTEGER;
const allows = `a whole number from 0 to ${most}, or null for the operator's default`;

const Quota = (description: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: most }), Type.Null()], { allows, description }),
  );

/** In a change: null goes back to the operator's default. In a record: null where the default holds. */
export const QuotaFields = Type.Object(
  {
    reactors: Quota('How many reactors the user may have.'),
    waitingMessages: Quota('How many messages may wait in their inboxes.'),
    containers: Quota('How many of their containers run at once on one machine.'),
    storedBytes: Quota('How many bytes of messages are kept for them.'),
  },
  { title: 'Quotas', additionalProperties: false, allows: `an object of ${quotaNames.join(', ')}` },
);

/** The user's own quotas after a change. */
export function changeQuotas(
  current: OwnQuotas,
  change: Readonly<Partial<Record<QuotaName, number | null>>>,
): OwnQuotas {
  const changed: Partial<Record<QuotaName, number>> = {};
  for (const name of quotaNames) {
    const value = change[name] === undefined ? current[name] : change[name];
    if (value === null || value === undefined) continue;
    if (!Number.isSafeInteger(value) || value < 0)
      throw fail('invalid_field', { field: `quotas.${name}`, problem: `takes ${allows}` });
    changed[name] = value;
  }
  return changed;
}

export const sameQuotas = (one: OwnQuotas, other: OwnQuotas): boolean =>
  quotaNames.every((name) => one[name] === other[name]);

export const shownQuotas = (own: OwnQuotas): Record<QuotaName, number | null> => ({
  reactors: own.reactors ?? null,
  waitingMessages: own.waitingMessages ?? null,
  containers: own.containers ?? null,
  storedBytes: own.storedBytes ?? null,
});

/** As the store keeps them. */
export function readQuotas(json: string): OwnQuotas {
  // By far the most users have none of their own.
  if (json === '{}') return {};
  const kept: unknown = JSON.parse(json);
  const own: Partial<Record<QuotaName, number>> = {};
  for (const [name, value] of Object.entries(Object(kept))) {
    const known = quotaNames.find((each) => each === name);
    if (known !== undefined && typeof value === 'number') own[known] = value;
  }
  return own;
}

export type QuotaDefaults = Pick<
  Config,
  'quota_reactors' | 'quota_waiting_messages' | 'quota_containers' | 'quota_stored_bytes'
>;

interface Holder {
  readonly ownerQuotas: OwnQuotas;
  readonly ownerIsAdmin: boolean;
}

const settingOf = {
  reactors: 'quota_reactors',
  waitingMessages: 'quota_waiting_messages',
  containers: 'quota_containers',
  storedBytes: 'quota_stored_bytes',
} as const satisfies Record<QuotaName, keyof QuotaDefaults>;

/**
 * What holds for a user; undefined: no limit. The defaults do not hold for admins, who set them; what an admin was
 * given by name does.
 */
export function quotaOf(
  { ownerQuotas, ownerIsAdmin }: Holder,
  name: QuotaName,
  defaults: QuotaDefaults,
): number | undefined {
  const standard = ownerIsAdmin ? 0 : defaults[settingOf[name]];
  return ownerQuotas[name] ?? (standard === 0 ? undefined : standard);
}
