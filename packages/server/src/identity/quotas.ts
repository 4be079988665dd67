import { Type } from 'typebox';
import type { Config } from '../config.ts';
import { fail } from '../errors.ts';

/** How much of the service one user may take up. */
const quotaNames = ['reactors', 'waitingMessages', 'containers', 'storedBytes'] as const;

type QuotaName = (typeof quotaNames)[number];

/** What an admin has set for a user; what is not named is the operator's default. */
export type OwnQuotas = Readonly<Partial<Record<QuotaName, number>>>;

const most = Number.MAX_SAFE_INTEGER;
const allows = `a whole number from 0 to ${most}, or null for the operator's default`;

const Quota = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });

/** As a profile shows them. */
export const ShownQuotas = Type.Object(
  {
    reactors: Quota('How many reactors the user may have.'),
    waitingMessages: Quota('How many messages may wait in their inboxes.'),
    containers: Quota('How many of their containers run at once on one machine.'),
    storedBytes: Quota('How many bytes of messages are kept for them.'),
  },
  {
    title: 'Quotas',
    description: "What an admin has set for the user; null: the operator's default holds.",
  },
);

/** As a change names them; their names are checked where they are read, in both spellings. */
export const GivenQuotas = Type.Record(Type.String(), Type.Unknown(), {
  allows: `an object with some of ${quotaNames.join(', ')}`,
  description: `How much the user may take up: ${quotaNames.join(', ')}. null: the operator's default. For admins.`,
  examples: [{ reactors: 20, waitingMessages: 1000 }],
});

/** The user's own quotas after a change. */
export function changeQuotas(
  current: OwnQuotas,
  change: Readonly<Record<string, unknown>>,
): OwnQuotas {
  const changed: Partial<Record<QuotaName, number>> = { ...current };
  for (const [given, value] of Object.entries(change)) {
    const name = quotaNames.find((known) => known === given || snakeCase(known) === given);
    if (name === undefined)
      throw fail('invalid_field', {
        field: `quotas.${given.slice(0, 64).toWellFormed()}`,
        problem: `is not a quota; they are ${quotaNames.join(', ')}`,
      });
    if (value === null) delete changed[name];
    else if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0)
      changed[name] = value;
    else throw fail('invalid_field', { field: `quotas.${name}`, problem: `takes ${allows}` });
  }
  return changed;
}

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

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
