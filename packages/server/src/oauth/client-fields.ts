import { type Static, Type } from 'typebox';
import { fail } from '../errors.ts';
import { callbackProblem, longestCallbackUrl, mostCallbackUrls } from './callback-url.ts';
import { clientFlows, clientNamePattern, clientNameRule } from './client.ts';
import type { ClientFields } from './clients.ts';
import { readTier, tiers } from './tiers.ts';

/** What may be said about a client, and how it is read. */

/**
 * Text for people: no control characters except tab and new line, nothing that turns the direction of what stands
 * beside it on the page where people give their consent, and no half characters.
 */
const plainText =
  '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]*$';

const Addresses = Type.Union([Type.String(), Type.Array(Type.String())], {
  allows: 'an address or a list of addresses',
  description:
    `Where people may be sent back to, exactly: up to ${mostCallbackUrls} absolute addresses of at most ` +
    `${longestCallbackUrl} characters, without a fragment. https, http on this machine, or an application's own scheme.`,
});

const changeable = {
  description: Type.Optional(
    Type.String({
      maxLength: 1000,
      pattern: plainText,
      allows: 'up to 1000 characters of plain text',
    }),
  ),
  callbackUrl: Type.Optional(Addresses),
  callbackUrls: Type.Optional(Addresses),
  tier: Type.Optional(
    Type.String({
      description: `One of ${tiers.join(', ')}, in any case. How many requests a minute.`,
    }),
  ),
  flows: Type.Optional(
    Type.Array(Type.Enum([...clientFlows], { type: 'string' }), {
      minItems: 1,
      allows: `a list of ${clientFlows.join(', ')}`,
      description: 'The OAuth flows the client may use. All of them unless said.',
    }),
  ),
  requirePkce: Type.Optional(
    Type.Boolean({
      allows: 'true or false',
      description: 'Whether its authorization code flow needs PKCE.',
    }),
  ),
};

export const NewClient = Type.Object(
  {
    clientName: Type.String({
      pattern: clientNamePattern.source,
      allows: clientNameRule,
      description: `Identifies the client in paths: ${clientNameRule}. Upper and lower case differ.`,
    }),
    ...changeable,
  },
  {
    title: 'NewClient',
    additionalProperties: false,
    examples: [
      {
        clientName: 'my_client',
        description: 'Shows my reactors',
        callbackUrl: 'https://app.example.org/callback',
      },
    ],
  },
);

export const ChangedClient = Type.Object(changeable, {
  title: 'ChangedClient',
  additionalProperties: false,
  examples: [{ callbackUrls: ['https://app.example.org/cb', 'http://localhost:3000/cb'] }],
});

/** The fields that were given; those that were not are left out. */
export function readClientFields(
  given: Static<typeof ChangedClient>,
  allowHttp: boolean,
): Partial<ClientFields> {
  const { description, tier, flows, requirePkce } = given;
  const callbackUrls = readAddresses(given, allowHttp);
  return {
    ...(description !== undefined && { description }),
    ...(callbackUrls !== undefined && { callbackUrls }),
    // Forms send what was left empty as well.
    ...(tier !== undefined && tier !== '' && { tier: checkTier(tier) }),
    ...(flows !== undefined && { flows: new Set(flows) }),
    ...(requirePkce !== undefined && { requirePkce }),
  };
}

export function checkTier(given: string) {
  const tier = readTier(given);
  if (tier !== undefined) return tier;
  throw fail('invalid_field', { field: 'tier', problem: `takes one of ${tiers.join(', ')}` });
}

function readAddresses(
  { callbackUrl, callbackUrls }: Static<typeof ChangedClient>,
  allowHttp: boolean,
): readonly string[] | undefined {
  const one = callbackUrl === undefined ? undefined : listOf(callbackUrl);
  const all = callbackUrls === undefined ? undefined : listOf(callbackUrls);
  // Taking both together would keep an address registered that somebody meant to replace.
  if (one !== undefined && all !== undefined && one.some((address) => !all.includes(address)))
    throw fail('invalid_field', {
      field: 'callbackUrl',
      problem: 'is not among callbackUrls; send one of the two fields, with every address',
    });
  const [field, addresses] = all === undefined ? ['callbackUrl', one] : ['callbackUrls', all];
  if (addresses === undefined) return undefined;
  if (addresses.length > mostCallbackUrls)
    throw fail('invalid_field', { field, problem: `takes at most ${mostCallbackUrls} addresses` });
  for (const address of addresses) {
    const problem = callbackProblem(address, allowHttp);
    if (problem !== undefined) throw fail('invalid_field', { field, problem });
  }
  return addresses;
}

/** Without empty ones, which mean none, and each once. */
function listOf(given: string | readonly string[]): readonly string[] {
  return [...new Set([given].flat().filter((address) => address !== ''))];
}
